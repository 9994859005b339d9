//! One direction of a simulated line. Time is simulated, and a seed determines the faults.

use std::collections::BTreeMap;

/// The faults of a line. A corrupt frame counts as lost, because the framing or UDP drops it.
#[derive(Clone, Copy, Debug, Default)]
pub struct Faults {
    /// The fraction of frames that are lost.
    pub loss: f64,
    /// The fraction of frames that arrive twice.
    pub duplication: f64,
    /// The fraction of frames that are late, by up to `reordering_us`.
    pub reordering: f64,
    /// The longest delay of a frame that is late.
    pub reordering_us: u64,
    /// The transmission time of a byte. A frame starts when the previous frame has ended.
    pub us_per_byte: u64,
}

/// One direction of a line, with the frames that are on their way.
pub struct Line<T> {
    delay_us: u64,
    faults: Faults,
    random: fastrand::Rng,
    is_free_at_us: u64,
    sent: u64,
    drop: Option<u64>,
    // The frames on their way, by their arrival time and then by the order of sending.
    frames: BTreeMap<(u64, u64), T>,
}

impl<T: Clone> Line<T> {
    /// Creates a line with this delay and these faults.
    #[must_use]
    pub fn new(delay_us: u64, faults: Faults, seed: u64) -> Self {
        let random = fastrand::Rng::with_seed(seed);
        Self { delay_us, faults, random, is_free_at_us: 0, sent: 0, drop: None, frames: BTreeMap::new() }
    }

    /// Makes the line lose the frame with this number; the first frame has the number 0.
    pub fn drop(&mut self, number: u64) {
        self.drop = Some(number);
    }

    /// Sends a frame of `length` bytes.
    pub fn send(&mut self, now_us: u64, length: usize, frame: T) {
        let number = self.sent;
        self.sent += 1;
        self.is_free_at_us = self.is_free_at_us.max(now_us) + self.faults.us_per_byte * length as u64;
        if self.drop == Some(number) || self.random.f64() < self.faults.loss {
            return;
        }
        let copies = if self.random.f64() < self.faults.duplication { 2 } else { 1 };
        for copy in 0..copies {
            let is_late = self.random.f64() < self.faults.reordering;
            let late_us = if is_late { self.random.u64(0..=self.faults.reordering_us) } else { 0 };
            let arrival_us = self.is_free_at_us + self.delay_us + late_us;
            self.frames.insert((arrival_us, 2 * number + copy), frame.clone());
        }
    }

    /// The arrival time of the next frame.
    #[must_use]
    pub fn next_arrival_us(&self) -> Option<u64> {
        self.frames.keys().next().map(|&(arrival_us, _)| arrival_us)
    }

    /// Removes and returns the next frame that has arrived.
    pub fn receive(&mut self, now_us: u64) -> Option<T> {
        let first = self.frames.first_entry()?;
        (first.key().0 <= now_us).then(|| first.remove())
    }

    /// The number of frames that were sent, including lost ones.
    #[must_use]
    pub fn sent(&self) -> u64 {
        self.sent
    }
}
