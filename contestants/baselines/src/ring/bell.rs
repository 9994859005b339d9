//! The bell of a subscription: a futex word in the subscription's file, on which the subscription sleeps.
//!
//! The word is 1 while the subscription sleeps or is about to sleep.

use std::fs::File;
use std::sync::atomic::Ordering::{Relaxed, SeqCst};
use std::sync::atomic::{AtomicU32, fence};
use std::time::Duration;

use rustix::fs::Timespec;
use rustix::io::Errno;
use rustix::thread::futex;

use super::mapping::Mapping;

/// The size of the file.
pub const BELL_BYTES: usize = 4;

/// The bell.
pub struct Bell(Mapping);

impl Bell {
    /// Maps the file of a subscription.
    ///
    /// # Errors
    /// A sentence of [`Mapping::new`].
    pub fn new(file: &File) -> Result<Bell, String> {
        Mapping::new(file, BELL_BYTES).map(Bell)
    }

    fn word(&self) -> &AtomicU32 {
        self.0.word(0)
    }

    /// Wakes the subscription if it sleeps. The publisher calls this function after it has pushed a message.
    pub fn ring(&self) {
        // SeqCst; the partner is the fence in `sleep`. Either the sleeping thread sees the message, or this thread sees
        // the word 1.
        fence(SeqCst);
        if self.word().load(Relaxed) == 1 && self.word().swap(0, Relaxed) == 1 {
            // The call fails only for an invalid address.
            let _ = futex::wake(self.word(), futex::Flags::empty(), 1);
        }
    }

    /// Sleeps until the bell rings, at most `timeout`. Returns at once if `has_news`.
    ///
    /// # Errors
    /// The kernel's error, as a sentence.
    pub fn sleep(&self, timeout: Duration, has_news: impl FnOnce() -> bool) -> Result<(), String> {
        self.word().store(1, Relaxed);
        // SeqCst: its partner is the fence of `ring`.
        fence(SeqCst);
        let timeout = Timespec { tv_sec: timeout.as_secs() as i64, tv_nsec: i64::from(timeout.subsec_nanos()) };
        let slept =
            if has_news() { Ok(()) } else { futex::wait(self.word(), futex::Flags::empty(), 1, Some(&timeout)) };
        self.word().store(0, Relaxed);
        match slept {
            Ok(()) | Err(Errno::AGAIN | Errno::INTR | Errno::TIMEDOUT) => Ok(()),
            Err(error) => Err(format!("cannot sleep on a futex: {error}")),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicU64;
    use std::sync::atomic::Ordering::{Acquire, Release};
    use std::thread;

    use rustix::fs::{MemfdFlags, memfd_create};

    use super::*;

    #[test]
    fn a_subscription_that_is_about_to_sleep_misses_no_message() {
        const ROUNDS: u64 = 20_000;
        // The duration of the test if a wake-up is missed.
        const LONG: Duration = Duration::from_secs(600);
        let file = File::from(memfd_create("bell", MemfdFlags::CLOEXEC).unwrap());
        file.set_len(BELL_BYTES as u64).unwrap();
        let (bell, of_publisher) = (Bell::new(&file).unwrap(), Bell::new(&file).unwrap());
        let (sent, taken) = (AtomicU64::new(0), AtomicU64::new(0));
        thread::scope(|scope| {
            scope.spawn(|| {
                for round in 1..=ROUNDS {
                    sent.store(round, Release);
                    of_publisher.ring();
                    while taken.load(Acquire) < round {
                        thread::yield_now();
                    }
                }
            });
            for round in 1..=ROUNDS {
                while sent.load(Acquire) < round {
                    bell.sleep(LONG, || sent.load(Acquire) >= round).unwrap();
                }
                taken.store(round, Release);
            }
        });
    }
}
