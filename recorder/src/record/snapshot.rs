//! Snapshots: a ring keeps the chunks of the last seconds in memory, and triggers cause them to be written.

use crate::write::Chunk;
use gantry::{Attachment, Collector, Node, Service, SourceTime};
use gantry_command::{Result, say, text::seconds};
use gantry_msgs::std_srvs::srv::{Trigger, Trigger_Response};
use std::{
    collections::VecDeque,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering::SeqCst},
    },
    time::{Duration, Instant},
};

/// The name of the service that triggers snapshots.
pub const SERVICE: &str = "/gantry_bag/snapshot";

/// The recent chunks, oldest first, in memory.
#[derive(Debug)]
pub struct Ring {
    chunks: VecDeque<Chunk>,
    bytes: u64,
    before: Duration,
    after: Duration,
    max_bytes: u64,
    /// The time at which the recording after a trigger ends; `None` if no recording runs.
    until: Option<Instant>,
    is_short_said: bool,
}

impl Ring {
    /// Creates a ring. `before` is the time before a trigger for which chunks are kept; `after` is the duration of the
    /// recording after a trigger.
    #[must_use]
    pub fn new(before: Duration, after: Duration, max_bytes: u64) -> Ring {
        Ring { chunks: VecDeque::new(), bytes: 0, before, after, max_bytes, until: None, is_short_said: false }
    }

    /// Keeps a chunk, and drops chunks that are too old or exceed `max_bytes`. While a recording after a trigger runs,
    /// returns the chunk instead; the caller must write it.
    pub fn keep(&mut self, chunk: Chunk) -> Option<Chunk> {
        if self.until.is_some() {
            return Some(chunk);
        }
        self.bytes += chunk.bytes();
        self.chunks.push_back(chunk);
        let before_ns = u64::try_from(self.before.as_nanos()).unwrap_or(u64::MAX);
        let oldest_ns = SourceTime::now().wall_ns.saturating_sub(before_ns);
        while self.chunks.front().and_then(Chunk::times).is_some_and(|(_, last)| last < oldest_ns) {
            self.forget();
        }
        while self.bytes > self.max_bytes && self.chunks.len() > 1 {
            self.forget();
            if !std::mem::replace(&mut self.is_short_said, true) {
                self.say_short();
            }
        }
        None
    }

    fn forget(&mut self) {
        self.bytes -= self.chunks.pop_front().map_or(0, |chunk| chunk.bytes());
    }

    fn say_short(&self) {
        let first = self.chunks.front().and_then(Chunk::times).map_or(0, |(first, _)| first);
        let kept = seconds(SourceTime::now().wall_ns.saturating_sub(first));
        let (before, most) = (self.before.as_secs_f64(), gantry_command::text::bytes(self.max_bytes));
        say(format_args!("{most} are not enough for {before} s: {kept} are kept; set --max-cache-size higher"));
    }

    /// Starts a recording, or extends the current one. Returns the kept chunks; the caller must write them.
    pub fn trigger(&mut self) -> VecDeque<Chunk> {
        self.until = Instant::now().checked_add(self.after);
        self.bytes = 0;
        std::mem::take(&mut self.chunks)
    }

    /// The time at which the current recording ends.
    #[must_use]
    pub fn until(&self) -> Option<Instant> {
        self.until
    }

    /// Ends the current recording. From now on, chunks are kept again.
    pub fn end(&mut self) {
        self.until = None;
    }
}

/// The two triggers of a snapshot: a service call, and the signal SIGUSR1.
pub struct Triggers {
    service: Service<Trigger>,
    /// The attachment of the service to the collector, so that a request wakes the recorder.
    _attachment: Option<Attachment>,
    has_signal: Arc<AtomicBool>,
    answer: String,
}

impl Triggers {
    /// Creates the service. `answer` is the `message` in its responses.
    ///
    /// # Errors
    /// There is no room in shared memory, or signals cannot be handled.
    pub fn new(node: &Node, collector: &mut Collector, answer: String) -> Result<Triggers> {
        let mut service = node.create_service::<Trigger>(SERVICE)?;
        let has_signal = Arc::new(AtomicBool::new(false));
        signal_hook::flag::register(signal_hook::consts::SIGUSR1, has_signal.clone())
            .map_err(|error| format!("signals cannot be handled: {error}"))?;
        let _attachment = collector.attach(&mut service)?;
        Ok(Triggers { service, _attachment, has_signal, answer })
    }

    /// Whether a snapshot was requested since the last call.
    pub fn take(&mut self) -> bool {
        let mut has_news = self.has_signal.swap(false, SeqCst);
        while let Ok(Some(request)) = self.service.take_request() {
            has_news = true;
            let response = Trigger_Response { success: true, message: self.answer.clone() };
            // An error means that the client is gone.
            let _ = self.service.send_response_copy(request.id(), &response);
        }
        has_news
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{describe::channel, write::Body};
    use mcap::records::MessageHeader;

    fn chunk(age_s: u64, data_bytes: usize) -> Chunk {
        let of_type = gantry::TypeDescription::default();
        let channel = Arc::new(channel(1, "/topic", 1, &of_type, &[]));
        let log_time = SourceTime::now().wall_ns - age_s * 1_000_000_000;
        let mut chunk = Chunk::default();
        let header = MessageHeader { channel_id: 1, sequence: 0, log_time, publish_time: log_time };
        chunk.push(&channel, header, Body::Copied(&[], &vec![0; data_bytes]));
        chunk
    }

    #[test]
    fn a_ring_keeps_the_last_seconds_and_bytes_and_a_trigger_takes_them() {
        let mut ring = Ring::new(Duration::from_secs(60), Duration::from_secs(60), 1000);
        for age_s in [500, 400, 50, 40] {
            assert!(ring.keep(chunk(age_s, 100)).is_none());
        }
        assert_eq!(ring.chunks.len(), 2);
        assert!(ring.keep(chunk(1, 800)).is_none());
        assert_eq!(ring.chunks.len(), 2, "the oldest chunk made room");
        assert_eq!((ring.trigger().len(), ring.bytes), (2, 0));
        assert!(ring.keep(chunk(0, 10)).is_some());
        ring.end();
        assert!(ring.keep(chunk(0, 10)).is_none());
    }
}
