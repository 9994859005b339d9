//! Key presses in a terminal that pause playing, step to the next message, or change the rate.

use gantry_command::spawn;
use rustix::{
    process::getpgrp,
    stdio::stdin,
    termios::{LocalModes, OptionalActions, Termios, isatty, tcgetattr, tcgetpgrp, tcsetattr},
};
use std::{
    io::Read,
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicI32, AtomicU32, Ordering::SeqCst},
    },
};

/// The line that explains the keys.
pub const HELP: &str = "space: pause, go on; right or s: next message; up, down: faster, slower";

/// The key presses to which the player has not reacted yet.
#[derive(Debug, Default)]
pub struct Control {
    is_paused: AtomicBool,
    steps: AtomicU32,
    /// The number of steps by which the rate has to change; positive means faster.
    rate_steps: AtomicI32,
}

impl Control {
    /// Creates a control for a player that starts paused or not.
    #[must_use]
    pub fn new(is_paused: bool) -> Arc<Control> {
        Arc::new(Control { is_paused: AtomicBool::new(is_paused), ..Control::default() })
    }

    /// Whether playing is paused.
    #[must_use]
    pub fn is_paused(&self) -> bool {
        self.is_paused.load(SeqCst)
    }

    /// Whether the player should play one message during the pause.
    #[must_use]
    pub fn take_step(&self) -> bool {
        self.steps.fetch_update(SeqCst, SeqCst, |steps| steps.checked_sub(1)).is_ok()
    }

    /// The number of steps by which the player has to change the rate; positive means faster.
    #[must_use]
    pub fn take_rate_steps(&self) -> i32 {
        self.rate_steps.swap(0, SeqCst)
    }

    /// Handles key presses in the form in which a terminal sends them: one byte for a key, three bytes for an arrow.
    fn press_all(&self, mut keys: &[u8]) {
        while !keys.is_empty() {
            let length = if keys.starts_with(b"\x1b[") { 3 } else { 1 };
            let (key, rest) = keys.split_at(length.min(keys.len()));
            self.press(key);
            keys = rest;
        }
    }

    fn press(&self, key: &[u8]) {
        match key {
            b" " => _ = self.is_paused.fetch_xor(true, SeqCst),
            b"s" | b"\x1b[C" if self.is_paused() => _ = self.steps.fetch_add(1, SeqCst),
            b"\x1b[A" => _ = self.rate_steps.fetch_add(1, SeqCst),
            b"\x1b[B" => _ = self.rate_steps.fetch_sub(1, SeqCst),
            _ => {}
        }
    }
}

/// The terminal mode in which each key press arrives at once. The old mode is restored when this value is dropped.
#[derive(Debug)]
pub struct Keys {
    before: Termios,
}

impl Keys {
    /// Starts to read keys from standard input, if it is a terminal and this program runs in its foreground.
    #[must_use]
    pub fn read(control: Arc<Control>) -> Option<Keys> {
        // A read in the background would stop the program by SIGTTIN.
        let is_ours = isatty(stdin()) && tcgetpgrp(stdin()).is_ok_and(|group| group == getpgrp());
        let before = tcgetattr(stdin()).ok().filter(|_| is_ours)?;
        let mut modes = before.clone();
        modes.local_modes.remove(LocalModes::ICANON | LocalModes::ECHO);
        tcsetattr(stdin(), OptionalActions::Now, &modes).ok()?;
        let keys = Keys { before };
        // The thread ends with the program.
        spawn("bag-keys", move || {
            let mut buffer = [0; 16];
            while let Ok(count @ 1..) = std::io::stdin().read(&mut buffer) {
                control.press_all(&buffer[..count]);
            }
        })
        .ok()?;
        Some(keys)
    }
}

impl Drop for Keys {
    fn drop(&mut self) {
        let _ = tcsetattr(stdin(), OptionalActions::Now, &self.before); // an error means that the terminal is gone
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_count_in_a_pause_only() {
        let control = Control::new(false);
        control.press_all(b"s");
        assert!(!control.take_step());
        control.press_all(b" s\x1b[C\x1b[A\x1b[A\x1b[B\x1b[");
        assert!(control.is_paused() && control.take_step() && control.take_step() && !control.take_step());
        assert_eq!((control.take_rate_steps(), control.take_rate_steps()), (1, 0));
    }
}
