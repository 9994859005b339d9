//! Messages that a back end in C took or delivered.

use perf_worker::backend::Taken;

use crate::abi;

/// Creates an empty struct for C code to fill when it takes a message.
pub fn nothing_taken() -> abi::Taken {
    abi::Taken {
        source: [0; 16],
        time_ns: 0,
        id: 0,
        received_ns: 0,
        arrived_ns: 0,
        in_hand_ns: 0,
        length_bytes: 0,
        wire_bytes: 0,
        overwritten: 0,
        payload: std::ptr::null(),
        payload_bytes: 0,
        loaned: 0,
    }
}

/// The length of the longest slice in Rust, bytes.
pub const MOST_BYTES: usize = isize::MAX as usize;

/// Converts a time from C code, in which 0 means that the time is not known.
pub fn unless_0(time_ns: i64) -> Option<i64> {
    (time_ns != 0).then_some(time_ns)
}

/// Reads and checks a message that C code took.
///
/// # Errors
/// The reason, as a sentence, if a required field is missing.
///
/// # Safety
/// The payload must keep the promise H2 of the header while the result lives.
pub unsafe fn taken_from_c(taken: &abi::Taken) -> Result<Taken<'_>, String> {
    if taken.received_ns == 0 {
        return Err(
            "the back end took a message without received_ns: it must be perf_test_now_ns() after the reception"
                .to_owned(),
        );
    }
    let payload = match (taken.payload_bytes, taken.payload.is_null()) {
        (0, _) => &[][..],
        (bytes, true) => return Err(format!("the back end took a message whose payload of {bytes} bytes is NULL")),
        (bytes, false) if bytes > MOST_BYTES => {
            return Err(format!(
                "the back end took a message whose payload_bytes is {bytes}, which is too large: check that the length \
                 is not negative"
            ));
        }
        // SAFETY: the caller's promise, and the length is at most `MOST_BYTES`.
        (bytes, false) => unsafe { std::slice::from_raw_parts(taken.payload.cast::<u8>(), bytes) },
    };
    Ok(Taken {
        source: taken.source,
        time_ns: taken.time_ns,
        id: taken.id,
        received_ns: taken.received_ns,
        arrived_ns: unless_0(taken.arrived_ns),
        in_hand_ns: unless_0(taken.in_hand_ns),
        length_bytes: taken.length_bytes,
        wire_bytes: taken.wire_bytes,
        overwritten: taken.overwritten,
        loaned: taken.loaned != 0,
        payload,
    })
}
