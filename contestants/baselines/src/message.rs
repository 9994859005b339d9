//! The user's own message: a publisher copies from it, and a subscription copies into it.

use std::hint::black_box;

use perf_worker::{
    backend::{Draft, Taken},
    raw,
};

/// Bytes whose pages have all been touched, so that no page fault falls into the measurement.
pub fn touched(bytes: usize) -> Vec<u8> {
    let mut message = vec![0; bytes];
    black_box(&mut message).fill(0);
    message
}

/// Writes the payload, and the stamp as the last step.
pub fn write(message: &mut [u8], draft: &mut dyn Draft) {
    draft.write(raw::payload_mut(message));
    raw::write_stamp(message, draft.stamp());
}

/// The message of these bytes, received at `received_ns`.
pub fn taken(message: &[u8], source: [u8; 16], received_ns: i64) -> Taken<'_> {
    // A message is at least as long as its stamp: the run was checked.
    let (time_ns, id) = raw::read_stamp(message).map_or((0, 0), |stamped| (stamped.time_ns, stamped.id));
    let length_bytes = message.len() as u64;
    Taken { source, time_ns, id, received_ns, length_bytes, payload: raw::payload(message), ..Taken::default() }
}
