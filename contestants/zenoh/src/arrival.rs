//! Messages that have reached this process, and the reader that passes them to the benchmark.

use std::io::Read;

use perf_worker::{backend::Taken, clock::now_ns, endpoint::EndpointPlan, raw, run_spec::RunSpec};
use zenoh::sample::Sample;

use crate::{memory::own_message, names::failed, publisher::source_of};

/// A message that has reached this process.
pub struct Arrival {
    /// The time at which the message arrived, if phases are measured.
    pub arrived_ns: Option<i64>,
    /// The message.
    pub sample: Sample,
}

/// Reads the messages of a subscription: in place with zero copy, otherwise as a copy.
pub struct Reader {
    /// The user's message, into which messages are copied; `None` with zero copy.
    own: Option<Vec<u8>>,
    /// True if the beginning of the copy is recorded as the end of a phase of the message's latency.
    marks: bool,
}

impl Reader {
    /// Creates the reader. Without zero copy, allocates the memory into which messages are copied.
    pub fn new(spec: &RunSpec, plan: &EndpointPlan) -> Reader {
        Reader { own: own_message(spec, plan), marks: spec.phases }
    }

    /// Reads one message and passes it to `reader`.
    ///
    /// # Errors
    /// The reason, as a sentence: the bytes are not a message of perf_test, or have another length.
    pub fn read(&mut self, arrival: &Arrival, reader: &mut dyn FnMut(&Taken<'_>)) -> Result<(), String> {
        let Arrival { arrived_ns, sample } = arrival;
        let in_hand_ns = (self.marks && self.own.is_some()).then(now_ns);
        let payload = sample.payload();
        let length_bytes = payload.len();
        let mut show = |received_ns, message: &[u8], loaned| {
            let stamped = raw::read_stamp(message).ok_or_else(|| {
                format!(
                    "a message of {} bytes does not come from perf_test, whose messages begin with a time and an id",
                    message.len()
                )
            })?;
            reader(&Taken {
                source: sample.source_info().map(|info| source_of(info.source_id())).unwrap_or_default(),
                time_ns: stamped.time_ns,
                id: stamped.id,
                received_ns,
                arrived_ns: *arrived_ns,
                in_hand_ns,
                length_bytes: length_bytes as u64,
                loaned,
                payload: raw::payload(message),
                ..Taken::default()
            });
            Ok(())
        };
        let Some(own) = &mut self.own else {
            let received_ns = now_ns();
            return match payload.as_shm() {
                Some(message) => show(received_ns, message, true),
                // The message arrived over the link, not through shared memory, so it does not count as loaned.
                None => show(received_ns, &payload.to_bytes(), false),
            };
        };
        if own.len() != length_bytes {
            let expected = own.len();
            return Err(format!(
                "a message has {length_bytes} bytes instead of {expected}: give both programs the same -m"
            ));
        }
        payload.reader().read_exact(own).map_err(|error| failed("read a message", error))?;
        show(now_ns(), own, false)
    }
}
