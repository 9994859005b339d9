//! Samples in `gantry_sample` structs, whose memory the program provides. A sample is a message that was taken.
//!
//! Invariant: `reserved` holds a sample of the library if and only if `data` is not null and `owner` is this library.

use super::*;
use gantry::GenericSample;
use std::ptr::null;

const _: () = assert!(size_of::<GenericSample>() <= size_of::<[u64; 6]>() && align_of::<GenericSample>() <= 8);

/// The largest accepted value of `struct_size`, as in `gantry-c`. A larger value means that the caller has not set the
/// field.
const MAX_STRUCT_SIZE: usize = 4096;

/// Marks the structs whose sample this library made.
static OWN: gantry_sample_owner = gantry_sample_owner {
    struct_size: size_of::<gantry_sample_owner>(),
    release: Some(release),
    get_info: Some(get_info),
};

/// Sets the program's struct to the empty state, and returns a reference to the struct.
///
/// # Errors
/// `sample` is null.
///
/// # Safety
/// `sample` is null, or points to memory for the struct. No other code uses this memory as long as the result is used.
pub unsafe fn clear<'a>(sample: *mut gantry_sample) -> Result<&'a mut gantry_sample> {
    // SAFETY: the promise of the caller.
    unsafe { output("sample", sample) }?.set(EMPTY);
    // SAFETY: as above; the struct was initialized just now.
    unsafe { in_out("sample", sample) }
}

const EMPTY: gantry_sample = gantry_sample { data: null(), size: 0, owner: null(), reserved: [0; 6] };

/// Puts a sample into an empty struct. The struct does not move during the call.
pub fn write(sample: &mut gantry_sample, taken: GenericSample) {
    let bytes = taken.bytes();
    // `data` stays valid when `taken` moves below: the bytes lie in the memory of the publisher or of the subscription.
    (sample.data, sample.size, sample.owner) = (bytes.as_ptr().cast(), bytes.len(), &raw const OWN);
    // SAFETY: the memory is large enough and aligned (asserted above).
    unsafe { (&raw mut sample.reserved).cast::<GenericSample>().write(taken) };
}

/// Returns a reference to the sample in a struct.
///
/// # Errors
/// The struct is empty, or another library made the sample.
pub fn read(sample: &gantry_sample) -> Result<&GenericSample> {
    if sample.data.is_null() {
        return Err(Failure::invalid("the sample is empty: it was released already, or nothing was taken"));
    }
    if !std::ptr::eq(sample.owner, &raw const OWN) {
        return Err(Failure::invalid("another library made the sample: use that library's function"));
    }
    // SAFETY: by the invariant of this file, the struct holds a sample.
    Ok(unsafe { &*(&raw const sample.reserved).cast::<GenericSample>() })
}

/// # Safety
/// `sample` is null, or points to a struct that is empty or holds a sample of this library.
unsafe extern "C" fn release(sample: *mut gantry_sample) -> gantry_status {
    let released = run(c"release of rmw_gantry", || {
        // SAFETY: the promise of the caller.
        let sample = unsafe { in_out("sample", sample) }?;
        read(sample)?;
        // SAFETY: by the invariant, the struct holds a sample. The struct becomes empty, so no second read of the
        // sample happens.
        let taken = unsafe { (&raw const sample.reserved).cast::<GenericSample>().read() };
        *sample = EMPTY;
        drop(taken);
        Ok(())
    });
    if released == RMW_RET_OK { 0 } else { -1 }
}

/// # Safety
/// `sample` points to a sample of this library. `info` is null, or points to a struct whose first field is its size.
unsafe extern "C" fn get_info(sample: *const gantry_sample, info: *mut gantry_sample_info) -> gantry_status {
    let got = run(c"get_info of rmw_gantry", || {
        // SAFETY: the promise of the caller.
        let found = read(unsafe { argument("sample", sample) }?)?.message_info();
        if info.is_null() {
            return Err(Failure::null("info"));
        }
        // SAFETY: as above: `struct_size` is the first field.
        let struct_size = unsafe { info.cast::<usize>().read() };
        if !(size_of::<usize>()..=MAX_STRUCT_SIZE).contains(&struct_size) {
            return Err(Failure::invalid(format_args!(
                "struct_size of info is {struct_size}: set it to sizeof(gantry_sample_info) before the call"
            )));
        }
        let ((origin, origin_sequence), gid) = (found.origin(), |gid: gantry::Gid| gantry_gid { bytes: gid.0 });
        let made = gantry_sample_info {
            struct_size,
            sequence: found.sequence,
            source_time_ns: found.source_time_ns,
            source_wall_time_ns: found.source_wall_time_ns,
            publisher_gid: gid(found.publisher_gid),
            origin_gid: gid(origin),
            origin_sequence,
        };
        let (target, known) = (info.cast::<u8>(), struct_size.min(size_of_val(&made)));
        // SAFETY: the program's struct has at least this size, and the struct `made` has no padding.
        unsafe { from_ref(&made).cast::<u8>().copy_to_nonoverlapping(target, known) };
        // SAFETY: as above.
        let unknown = unsafe { target.add(known) };
        // SAFETY: as above: the bytes belong to fields of the program's struct that this library does not have.
        unsafe { unknown.write_bytes(0, struct_size - known) };
        Ok(())
    });
    if got == RMW_RET_OK { 0 } else { -1 }
}
