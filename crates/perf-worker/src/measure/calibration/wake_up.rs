//! Measures the time to wake a sleeping thread. A helper thread sleeps, and stores the time whenever it is woken. The
//! helper thread ends when the [`Sleeper`] is dropped.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::thread::{self, JoinHandle};

use crate::clock::now_ns;

/// The waker stores this value to wake the sleeper, which then stores the time.
const WAKE_UP: i64 = -1;
/// The waker stores this value to end the sleeper.
const END: i64 = -2;
/// The value before the first wake-up.
const NOT_WOKEN: i64 = 0;

/// A helper thread that sleeps until its creator wakes it, and then stores the time of the wake-up in `word`.
#[derive(Debug)]
pub struct Sleeper {
    word: Arc<AtomicI64>,
    thread: Option<JoinHandle<()>>,
}

impl Sleeper {
    /// Starts the helper thread, which goes to sleep.
    ///
    /// # Errors
    /// The reason, as a sentence, if no thread can be started.
    pub fn start() -> Result<Sleeper, String> {
        let word = Arc::new(AtomicI64::new(NOT_WOKEN));
        let waker = thread::current();
        let sleep = {
            let word = word.clone();
            move || loop {
                match word.load(Ordering::Acquire) {
                    END => return,
                    WAKE_UP => {
                        word.store(now_ns(), Ordering::Release);
                        waker.unpark();
                    }
                    _ => thread::park(),
                }
            }
        };
        let thread = thread::Builder::new().name("sleeper".to_owned()).spawn(sleep);
        let thread = thread.map_err(|error| format!("cannot start a thread to time wake-ups: {error}"))?;
        Ok(Sleeper { word, thread: Some(thread) })
    }

    /// Wakes the sleeper. Returns the nanoseconds from a reading of the clock before the wake-up to the sleeper's first
    /// reading. Only the creator of the sleeper may call this.
    #[must_use]
    pub fn wake_up_ns(&mut self) -> i64 {
        let begin_ns = now_ns();
        self.set(WAKE_UP);
        loop {
            match self.word.load(Ordering::Acquire) {
                WAKE_UP => thread::park(),
                woken_ns => return woken_ns - begin_ns,
            }
        }
    }

    fn set(&self, word: i64) {
        self.word.store(word, Ordering::Release);
        if let Some(thread) = &self.thread {
            thread.thread().unpark();
        }
    }
}

impl Drop for Sleeper {
    fn drop(&mut self) {
        self.set(END);
        if let Some(thread) = self.thread.take() {
            // The result is ignored because the loop of the helper thread cannot panic.
            let _ = thread.join();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_wake_up_takes_some_time_and_the_sleeper_ends_with_its_owner() {
        let mut sleeper = Sleeper::start().unwrap();
        for _ in 0..3 {
            assert!(sleeper.wake_up_ns() > 0);
        }
        let word = sleeper.word.clone();
        drop(sleeper);
        assert_eq!(Arc::strong_count(&word), 1);
    }
}
