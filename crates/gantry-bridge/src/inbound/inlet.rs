//! An inlet: the local publisher that represents one publisher on the network.

use super::seen::Seen;
use crate::{counts::Counts, lock::lock};
use gantry::{EngineError, Gid, PublisherOptions, Qos, RequestId, SourceTime, TypeDescription};
use gantry_shm::{Participant, Publisher};
use std::{
    sync::{Arc, Mutex},
    time::Duration,
};

/// The number of padding bytes from which a message counts as too long: no network appends that many.
const PADDING_END: usize = 4;

/// The information about a sample from the network.
#[derive(Clone, Copy, Debug)]
pub struct FarSample {
    /// The GID of the publisher on the network.
    pub gid: Gid,
    /// The sequence number that this publisher gave the sample.
    pub sequence: u64,
    /// The time of publication in ns since 1970.
    pub wall_ns: u64,
    /// The length of the CDR body in bytes, without encapsulation.
    pub length_bytes: usize,
}

/// The local publisher for one publisher on the network. It publishes each sample once, with the original time,
/// sequence number and GID.
#[derive(Debug)]
pub struct Inlet {
    state: Mutex<State>,
    lifespan: Option<Duration>,
    /// The largest CDR length of a message of the type.
    payload_bytes: usize,
    counts: Arc<Counts>,
}

#[derive(Debug)]
struct State {
    publisher: Publisher,
    seen: Seen,
    /// True if the last sample was lost because a slow subscription left no room. The next publish then does not wait
    /// for room.
    is_full: bool,
}

impl Inlet {
    /// Creates an inlet whose publisher belongs to the node with this full name. `counts` counts what happens to each
    /// sample.
    ///
    /// # Errors
    /// There is no room in shared memory, or the depth is out of range.
    pub fn new(
        participant: Arc<Participant>,
        (node, topic): (&str, &str),
        message_type: TypeDescription,
        qos: Qos,
        counts: Arc<Counts>,
    ) -> gantry_shm::Result<Inlet> {
        let options = PublisherOptions { loses_oldest_at_limit: true, ..PublisherOptions::default() };
        let payload_bytes = message_type.payload_bytes;
        let publisher = Publisher::new(participant, node, topic, message_type, qos, options)?;
        let state = Mutex::new(State { publisher, seen: Seen::default(), is_full: false });
        Ok(Inlet { state, lifespan: qos.lifespan, payload_bytes, counts })
    }

    /// True if the inlet is matched with a subscription.
    #[must_use]
    pub fn is_matched(&self) -> bool {
        // An error counts as no subscription: it means that the memory of a subscription cannot be mapped.
        lock(&self.state).publisher.subscription_count().unwrap_or_default() > 0
    }

    /// Publishes a sample; `write` fills in all its bytes. The published message is shorter than `sample.length_bytes`
    /// if the network padded it to a multiple of four.
    pub fn publish(&self, mut sample: FarSample, write: impl FnOnce(&mut [u8])) {
        let mut state = lock(&self.state);
        if !state.seen.is_new(sample.sequence) {
            return self.counts.duplicate();
        }
        let padding_bytes = sample.length_bytes.saturating_sub(self.payload_bytes);
        sample.length_bytes -= if padding_bytes < PADDING_END { padding_bytes } else { 0 };
        let now = SourceTime::now();
        // A sample from the future has the age 0, because the clocks of two hosts differ.
        let age_ns = now.wall_ns.saturating_sub(sample.wall_ns);
        if self.lifespan.is_some_and(|lifespan| u128::from(age_ns) > lifespan.as_nanos()) {
            return self.counts.expire();
        }
        let monotonic_ns = match self.lifespan {
            Some(_) => now.monotonic_ns.saturating_sub(age_ns),
            None => now.monotonic_ns,
        };
        let time = SourceTime { monotonic_ns, wall_ns: sample.wall_ns };
        match state.publish(sample, time, write) {
            Ok(()) => self.counts.carry(sample.length_bytes),
            Err(_) => self.counts.fail(),
        }
    }
}

impl State {
    fn publish(
        &mut self,
        sample: FarSample,
        time: SourceTime,
        write: impl FnOnce(&mut [u8]),
    ) -> gantry_shm::Result<()> {
        let mut loan = self.publisher.loan_for_copy(sample.length_bytes)?;
        write(loan.bytes_mut());
        loan.set_request(RequestId { client_gid: sample.gid, sequence: sample.sequence });
        let limit = self.publisher.max_blocking_time();
        if self.is_full {
            self.publisher.set_max_blocking_time(Duration::ZERO);
        }
        let published = self.publisher.publish(loan, time);
        self.publisher.set_max_blocking_time(limit);
        self.is_full =
            matches!(&published, Err(unpublished) if matches!(*unpublished.error, EngineError::PublishTimeout { .. }));
        published.map(drop).map_err(Into::into)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use gantry_shm::Subscription;
    use std::time::{SystemTime, UNIX_EPOCH};

    #[test]
    fn padding_behind_a_sample_is_cut_off() {
        let root = tempfile::tempdir_in("/dev/shm").unwrap();
        let participant = Participant::join_under(root.path(), 0).unwrap();
        let of_type = || TypeDescription { payload_bytes: 1, ..TypeDescription::default() };
        let (qos, counts) = (Qos::default(), Arc::new(Counts::default()));
        let mut subscription = Subscription::new(participant.clone(), "/node", "/topic", of_type(), qos).unwrap();
        let inlet = Inlet::new(participant, ("/far", "/topic"), of_type(), qos, counts.clone()).unwrap();
        for (sequence, length_bytes) in [(1, 4), (2, 5)] {
            let wall_ns = SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_nanos() as u64;
            let sample = FarSample { gid: Gid([7; 16]), sequence, wall_ns, length_bytes };
            inlet.publish(sample, |bytes| bytes.fill(9));
        }
        assert_eq!(subscription.take().unwrap().unwrap().bytes(), [9]);
        assert_eq!((counts.values().carried, counts.values().failed), (1, 1));
    }

    #[test]
    fn a_far_sample_keeps_its_identity_and_comes_once() {
        let root = tempfile::tempdir_in("/dev/shm").unwrap();
        let participant = Participant::join_under(root.path(), 0).unwrap();
        let (far, counts) = (Gid([7; 16]), Arc::new(Counts::default()));
        let of_type = || TypeDescription { payload_bytes: usize::MAX, ..TypeDescription::default() };
        let qos = Qos { lifespan: Some(Duration::from_secs(3600)), ..Qos::default() };
        let mut subscription =
            Subscription::new(participant.clone(), "/node", "/topic", of_type(), Qos::default()).unwrap();
        let inlet = Inlet::new(participant, ("/far", "/topic"), of_type(), qos, counts.clone()).unwrap();
        let now_ns = SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_nanos() as u64;
        let too_old_ns = now_ns - 3601 * 1_000_000_000;
        // A sample whose publisher's clock is a day ahead is not lost.
        let ahead_ns = now_ns + 24 * 3600 * 1_000_000_000;
        for (sequence, wall_ns) in [(5, now_ns), (5, now_ns), (7, too_old_ns), (6, ahead_ns)] {
            let sample = FarSample { gid: far, sequence, wall_ns, length_bytes: 1 };
            inlet.publish(sample, |bytes| bytes[0] = sequence as u8);
        }
        for (sequence, wall_ns) in [(5, now_ns), (6, ahead_ns)] {
            let sample = subscription.take().unwrap().unwrap();
            assert_eq!((sample.info().origin(), sample.info().source_wall_time_ns), ((far, sequence), wall_ns));
            assert_eq!(sample.bytes(), [sequence as u8]);
        }
        assert!(subscription.take().unwrap().is_none());
        let values = counts.values();
        assert_eq!((values.carried, values.duplicates, values.expired), (2, 1, 1));
    }
}
