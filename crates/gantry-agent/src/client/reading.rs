//! READ_DATA: the number of samples of an object that a client wants, and their rate.

use gantry_xrce::{
    time::Instant,
    wire::{DeliveryControl, ObjectRequest, ReadData, StreamId},
};

/// A READ_DATA of a client that is not fulfilled yet.
#[derive(Debug)]
pub struct Reading {
    /// The request number, which each DATA repeats.
    pub request: ObjectRequest,
    pub stream: StreamId,
    /// The number of samples that may still be sent; `None` means any number.
    left: Option<u16>,
    ends_at: Option<Instant>,
    /// The time before which no sample is sent.
    next_at: Instant,
    max_bytes_per_s: u16,
    min_pace_ms: u16,
}

impl Reading {
    /// Makes the state of a new READ_DATA. Returns `None` if it only cancels an earlier READ_DATA.
    pub fn new(read: &ReadData<'_>, now: Instant) -> Option<Self> {
        let one = DeliveryControl { max_samples: 1, max_elapsed_s: 0, max_bytes_per_s: 0, min_pace_ms: 0 };
        let control = read.delivery.unwrap_or(one);
        if control.max_samples == 0 {
            return None;
        }
        let stream = if read.stream.is_reliable() { StreamId::RELIABLE } else { StreamId::BEST_EFFORT };
        let elapsed_us = u32::from(control.max_elapsed_s).saturating_mul(1_000_000);
        Some(Self {
            request: read.request,
            stream,
            left: Some(control.max_samples).filter(|&samples| samples != DeliveryControl::UNLIMITED),
            ends_at: (elapsed_us > 0).then(|| now.after_us(elapsed_us)),
            next_at: now,
            max_bytes_per_s: control.max_bytes_per_s,
            min_pace_ms: control.min_pace_ms,
        })
    }

    /// Whether the request is fulfilled or its time is over.
    pub fn is_over(&self, now: Instant) -> bool {
        self.left == Some(0) || self.ends_at.is_some_and(|at| at <= now)
    }

    /// The earliest time at which the next sample may be sent.
    pub fn next_at(&self) -> Instant {
        self.next_at
    }

    /// Notes that a sample of this length was sent.
    pub fn sent(&mut self, bytes: usize, now: Instant) {
        self.left = self.left.map(|left| left.saturating_sub(1));
        let rate_us = match self.max_bytes_per_s {
            0 => 0,
            rate => u32::try_from(bytes as u64 * 1_000_000 / u64::from(rate)).unwrap_or(u32::MAX),
        };
        let pace_us = u32::from(self.min_pace_ms) * 1000;
        self.next_at = now.after_us(rate_us.max(pace_us));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use gantry_xrce::wire::{DataFormat, ObjectId, RequestId};

    fn reading(delivery: Option<DeliveryControl>) -> Option<Reading> {
        let request = ObjectRequest { request: RequestId(14), object: ObjectId(0x16) };
        let stream = StreamId::RELIABLE;
        let read = ReadData { request, stream, format: DataFormat::DATA, content_filter: None, delivery };
        Reading::new(&read, Instant::from_us(0))
    }

    const UNLIMITED: DeliveryControl = DeliveryControl {
        max_samples: DeliveryControl::UNLIMITED,
        max_elapsed_s: 0,
        max_bytes_per_s: 0,
        min_pace_ms: 0,
    };

    #[test]
    fn a_reading_without_control_is_of_one_sample() {
        let mut reading = reading(None).unwrap();
        assert!(!reading.is_over(Instant::from_us(u64::MAX)));
        reading.sent(10, Instant::from_us(5));
        assert!(reading.is_over(Instant::from_us(5)));
    }

    #[test]
    fn a_reading_ends_by_its_time_and_by_its_number() {
        assert!(reading(Some(DeliveryControl { max_samples: 0, ..UNLIMITED })).is_none());
        let timed = reading(Some(DeliveryControl { max_elapsed_s: 2, ..UNLIMITED })).unwrap();
        assert!(!timed.is_over(Instant::from_us(1_999_999)) && timed.is_over(Instant::from_us(2_000_000)));
        let mut two = reading(Some(DeliveryControl { max_samples: 2, ..UNLIMITED })).unwrap();
        two.sent(10, Instant::from_us(5));
        assert!(!two.is_over(Instant::from_us(5)));
        two.sent(10, Instant::from_us(5));
        assert!(two.is_over(Instant::from_us(5)));
    }

    #[test]
    fn rate_and_pace_put_off_the_next_sample() {
        let mut rated = reading(Some(DeliveryControl { max_bytes_per_s: 1000, ..UNLIMITED })).unwrap();
        rated.sent(500, Instant::from_us(7));
        assert_eq!(rated.next_at(), Instant::from_us(500_007));
        let mut paced =
            reading(Some(DeliveryControl { max_bytes_per_s: 1000, min_pace_ms: 600, ..UNLIMITED })).unwrap();
        paced.sent(500, Instant::from_us(7));
        assert_eq!(paced.next_at(), Instant::from_us(600_007));
    }
}
