//! The user's message in private memory: a publisher copies from this message, and a subscription copies into it.

use std::hint::black_box;

use perf_worker::{
    backend::{Draft, Taken},
    raw,
};

/// A buffer whose pages have all been written once, so that the measurement has no page faults.
pub fn touched(bytes: usize) -> Vec<u8> {
    let mut message = vec![0; bytes];
    black_box(&mut message).fill(0);
    message
}

/// Writes the payload and then, as the last step, the stamp (time and id).
pub fn write(message: &mut [u8], draft: &mut dyn Draft) {
    draft.write(raw::payload_mut(message));
    raw::write_stamp(message, draft.stamp());
}

/// The message of these bytes, received at `received_ns`.
pub fn taken(message: &[u8], source: [u8; 16], received_ns: i64) -> Taken<'_> {
    // `None` cannot occur: the check of the run refuses messages that are shorter than the stamp.
    let (time_ns, id) = raw::read_stamp(message).map_or((0, 0), |stamped| (stamped.time_ns, stamped.id));
    let length_bytes = message.len() as u64;
    Taken { source, time_ns, id, received_ns, length_bytes, payload: raw::payload(message), ..Taken::default() }
}
