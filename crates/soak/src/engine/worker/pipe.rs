//! The pipes between a worker and the coordinator.

use std::{
    io::{Read, Write},
    sync::atomic::{AtomicBool, Ordering::Relaxed},
};

static MUST_END: AtomicBool = AtomicBool::new(false);

/// True if the coordinator has asked this process to end.
pub fn must_end() -> bool {
    MUST_END.load(Relaxed)
}

/// Writes a line to the coordinator. Ends the process if the coordinator has ended.
pub fn say(line: &str) {
    let mut out = std::io::stdout().lock();
    if writeln!(out, "{line}").and_then(|()| out.flush()).is_err() {
        std::process::exit(1);
    }
}

/// Starts a thread that waits for the coordinator to close this process's standard input.
pub fn watch_end() {
    std::thread::spawn(|| {
        let _ = std::io::stdin().lock().read_to_end(&mut Vec::new());
        MUST_END.store(true, Relaxed);
    });
}
