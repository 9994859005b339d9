//! The host of the throughput experiment. It counts the texts that its subscription receives.

use std::time::{Duration, Instant};

use gantry::Subscription;
use gantry_msgs::std_msgs::msg::String as Text;
use perf_worker::clock::{SECOND_NS, now_ns};

use super::board::NUMBER_DIGITS;
use perf_test::common::interrupt::Interrupt;

/// The longest wait for the first text.
const FIRST_TIMEOUT: Duration = Duration::from_secs(30);
/// The time from the first text until the flow is steady. Until then, the host also receives texts that were queued in
/// the line and in the subscription.
const SETTLE: Duration = Duration::from_millis(500);
/// The time without a text after which the flow counts as stopped, ns.
const SILENCE_NS: i64 = SECOND_NS / 2;
/// The longest sleep before the host checks the time again.
const PATIENCE: Duration = Duration::from_millis(20);

/// The counts of received texts of one length.
#[derive(Clone, Copy, Debug, Default)]
pub struct Received {
    /// The number of received texts.
    pub count: u64,
    /// The number of missing texts between the first and the last received text.
    pub lost: u64,
    /// The time from the first text to the last one, ns.
    pub length_ns: i64,
}

impl Received {
    /// The number of texts per second between the first and the last one.
    #[must_use]
    pub fn per_s(&self) -> f64 {
        self.count.saturating_sub(1) as f64 * SECOND_NS as f64 / self.length_ns.max(1) as f64
    }
}

/// The subscription's side of one measurement.
#[derive(Debug)]
pub struct Host<'a> {
    pub subscription: &'a mut Subscription<Text>,
    pub payload_bytes: usize,
    pub interrupt: &'a Interrupt,
}

impl Host<'_> {
    /// Waits for the first text of this length, and then until the flow is steady. Returns the number of the last text
    /// that came.
    ///
    /// # Errors
    /// The reason, as a sentence: no text came in time, or the user has ended the experiment.
    pub fn wait_for_first(&mut self) -> Result<u64, String> {
        let (began, mut first) = (Instant::now(), None);
        while began.elapsed() < FIRST_TIMEOUT {
            if let Some(number) = self.next()?
                && first.get_or_insert_with(Instant::now).elapsed() >= SETTLE
            {
                return Ok(number);
            }
        }
        Err(format!("no flow of texts of {} bytes began within {} s", self.payload_bytes, FIRST_TIMEOUT.as_secs()))
    }

    /// Counts the texts for `length_ns`. The count starts with the text `first`, which has already come.
    ///
    /// # Errors
    /// The same errors as [`Self::wait_for_first`].
    pub fn count(&mut self, first: u64, length_ns: i64) -> Result<Received, String> {
        let began_ns = now_ns();
        let (mut received, mut last) = (Received { count: 1, ..Received::default() }, first);
        while now_ns() - began_ns < length_ns {
            if let Some(number) = self.next()? {
                received.count += 1;
                received.length_ns = now_ns() - began_ns;
                last = last.max(number);
            }
        }
        let silence_ns = now_ns() - began_ns - received.length_ns;
        if silence_ns > SILENCE_NS {
            return Err(format!("the flow stopped: no text came in the last {} ms", silence_ns / 1_000_000));
        }
        received.lost = (last + 1 - first).saturating_sub(received.count);
        Ok(received)
    }

    /// Returns the number of the next text of this length, if one comes.
    fn next(&mut self) -> Result<Option<u64>, String> {
        if self.interrupt.is_requested() {
            return Err("ended early".to_owned());
        }
        let sentence = |error: gantry::Error| format!("the subscription failed: {error}");
        if let Some(text) = self.subscription.take().map_err(sentence)? {
            let data = text.data();
            let number = data.get(..NUMBER_DIGITS).filter(|_| data.len() == self.payload_bytes);
            return Ok(number.and_then(|digits| digits.parse().ok()));
        }
        self.subscription.wait(PATIENCE).map_err(sentence)?;
        Ok(None)
    }
}
