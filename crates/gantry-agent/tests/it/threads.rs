//! Tests of the agent's threads, in the process that runs the agent.

use crate::{
    support::{TestClient, agent, socket},
    transports::exchange,
};
use gantry_agent::{Config, Serial, Tcp};
use std::fs;

test_support::tests!(no_thread_runs_signal_handlers_of_the_program);

/// The mask of blocked signals of each thread with the name `name`.
fn blocked(name: &str) -> Vec<u64> {
    let threads = fs::read_dir("/proc/self/task").unwrap().filter_map(|thread| {
        let folder = thread.unwrap().path(); // an error means that the thread has ended
        let is_meant = fs::read_to_string(folder.join("comm")).ok()?.trim_end() == name;
        is_meant.then_some(())?;
        let status = fs::read_to_string(folder.join("status")).ok()?;
        let mask = status.lines().find_map(|line| line.strip_prefix("SigBlk:\t"))?;
        u64::from_str_radix(mask, 16).ok()
    });
    threads.collect()
}

fn no_thread_runs_signal_handlers_of_the_program() {
    let (agent, udp, _) = agent(Config::default());
    let _tcp = Tcp::open(&agent, ([127, 0, 0, 1], 0).into()).unwrap();
    let _serial = Serial::pseudoterminal(&agent).unwrap();
    let mut client = TestClient::open(socket(&udp), 0x0f01);
    exchange(&mut client, "among_threads");
    for name in ["ticker", "udp", "tcp", "serial", "listener-0"] {
        let masks = blocked(name);
        assert!(!masks.is_empty(), "no thread {name}");
        const SIGNALS: u64 = 1 << (2 - 1) | 1 << (15 - 1) | 1 << (10 - 1); // SIGINT, SIGTERM, SIGUSR1
        assert!(masks.iter().all(|mask| mask & SIGNALS == SIGNALS), "{name}: {masks:x?}");
    }
}
