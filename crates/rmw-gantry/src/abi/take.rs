//! The functions that take a message. Each one deserialises a sample into the caller's message, or copies the bytes of
//! the sample.

use crate::{
    entities::Subscription,
    failure::run,
    handle::{IDENTIFIER, Output, entity, in_out, output},
    tracing,
};
use gantry::GenericSample;
use rmw_abi::{
    bindings::*,
    failure::{Failure, Result},
    messages::serialized,
};
use std::{
    ffi::c_void,
    slice,
    time::{SystemTime, UNIX_EPOCH},
};

/// # Safety
/// Each pointer is null, or valid as the contract of rmw requires (`crate::handle`).
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rmw_take(
    subscription: *const rmw_subscription_t,
    ros_message: *mut c_void,
    taken: *mut bool,
    _allocation: *mut rmw_subscription_allocation_t,
) -> rmw_ret_t {
    run(c"rmw_take", || {
        // SAFETY: the contract of rmw, which includes the promises of `take_message`.
        unsafe { take_message(subscription, ros_message, taken, None) }
    })
}

/// # Safety
/// Each pointer is null, or valid as the contract of rmw requires (`crate::handle`).
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rmw_take_with_info(
    subscription: *const rmw_subscription_t,
    ros_message: *mut c_void,
    taken: *mut bool,
    message_info: *mut rmw_message_info_t,
    _allocation: *mut rmw_subscription_allocation_t,
) -> rmw_ret_t {
    run(c"rmw_take_with_info", || {
        // SAFETY: the contract of rmw.
        let info = unsafe { output("message_info", message_info) }?;
        // SAFETY: as above.
        unsafe { take_message(subscription, ros_message, taken, Some(info)) }
    })
}

/// # Safety
/// The contract of rmw.
unsafe fn take_message(
    subscription: *const rmw_subscription_t,
    ros_message: *mut c_void,
    taken: *mut bool,
    info: Option<Output<'_, rmw_message_info_t>>,
) -> Result<()> {
    // SAFETY: the promise of the caller.
    let found: &Subscription = unsafe { entity(subscription) }?;
    if ros_message.is_null() {
        return Err(Failure::null("ros_message"));
    }
    // SAFETY: as above.
    let mut taken = unsafe { output("taken", taken) }?;
    taken.set(false);
    // SAFETY: as above: `ros_message` is a message of the subscription's type.
    let sample = unsafe { take_into(found, ros_message) }?;
    tracing::take(subscription, ros_message, sample.as_ref().map(|(sample, _)| sample));
    if let Some((sample, number)) = sample {
        if let Some(mut info) = info {
            info.set(message_info(&sample, number));
        }
        taken.set(true);
    }
    Ok(())
}

/// Takes the next sample that is a valid message of the subscription's type, and deserialises it into the caller's
/// message.
///
/// # Safety
/// `message` points to a message of the subscription's type, which no other code uses.
unsafe fn take_into(subscription: &Subscription, message: *mut c_void) -> Result<Option<(GenericSample, u64)>> {
    // SAFETY: the promise of the caller.
    subscription.take_valid(|sample| unsafe { subscription.message_type.read(sample.bytes(), message) })
}

/// Each of the two sequences must have a capacity of at least `count`. The function sets their sizes to the number of
/// messages that it took.
///
/// # Safety
/// Each pointer is null, or valid as the contract of rmw requires (`crate::handle`).
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rmw_take_sequence(
    subscription: *const rmw_subscription_t,
    count: usize,
    message_sequence: *mut rmw_message_sequence_t,
    message_info_sequence: *mut rmw_message_info_sequence_t,
    taken: *mut usize,
    _allocation: *mut rmw_subscription_allocation_t,
) -> rmw_ret_t {
    run(c"rmw_take_sequence", || {
        // SAFETY: the contract of rmw.
        let found: &Subscription = unsafe { entity(subscription) }?;
        // SAFETY: as above.
        let messages = unsafe { in_out("message_sequence", message_sequence) }?;
        // SAFETY: as above.
        let infos = unsafe { in_out("message_info_sequence", message_info_sequence) }?;
        // SAFETY: as above.
        let mut taken = unsafe { output("taken", taken) }?;
        if count == 0 {
            return Err(Failure::invalid("count is 0: at least one message is to be taken"));
        }
        let room = messages.capacity.min(infos.capacity);
        if count > room {
            return Err(Failure::invalid(format_args!(
                "{count} messages are to be taken, and the sequences have room for {room}"
            )));
        }
        taken.set(0);
        (messages.size, infos.size) = (0, 0);
        // SAFETY: as above: the array has this capacity, and its elements are messages of the subscription's type.
        let targets = unsafe { slice::from_raw_parts(messages.data, count) };
        for (index, target) in targets.iter().enumerate() {
            // SAFETY: as above.
            let Some((sample, number)) = unsafe { take_into(found, *target) }? else { break };
            tracing::take(subscription, *target, Some(&sample));
            // SAFETY: as above: the index is below the capacity.
            let info = unsafe { infos.data.add(index) };
            // SAFETY: as above; the memory may be uninitialized.
            unsafe { info.write(message_info(&sample, number)) };
            (messages.size, infos.size) = (index + 1, index + 1);
            taken.set(index + 1);
        }
        Ok(())
    })
}

/// # Safety
/// Each pointer is null, or valid as the contract of rmw requires (`crate::handle`).
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rmw_take_serialized_message(
    subscription: *const rmw_subscription_t,
    serialized_message: *mut rmw_serialized_message_t,
    taken: *mut bool,
    _allocation: *mut rmw_subscription_allocation_t,
) -> rmw_ret_t {
    run(c"rmw_take_serialized_message", || {
        // SAFETY: the contract of rmw, which includes the promises of `take_serialized`.
        unsafe { take_serialized(subscription, serialized_message, taken, None) }
    })
}

/// # Safety
/// Each pointer is null, or valid as the contract of rmw requires (`crate::handle`).
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rmw_take_serialized_message_with_info(
    subscription: *const rmw_subscription_t,
    serialized_message: *mut rmw_serialized_message_t,
    taken: *mut bool,
    message_info: *mut rmw_message_info_t,
    _allocation: *mut rmw_subscription_allocation_t,
) -> rmw_ret_t {
    run(c"rmw_take_serialized_message_with_info", || {
        // SAFETY: the contract of rmw.
        let info = unsafe { output("message_info", message_info) }?;
        // SAFETY: as above.
        unsafe { take_serialized(subscription, serialized_message, taken, Some(info)) }
    })
}

/// # Safety
/// The contract of rmw.
unsafe fn take_serialized(
    subscription: *const rmw_subscription_t,
    serialized_message: *mut rmw_serialized_message_t,
    taken: *mut bool,
    info: Option<Output<'_, rmw_message_info_t>>,
) -> Result<()> {
    // SAFETY: the promise of the caller.
    let found: &Subscription = unsafe { entity(subscription) }?;
    if serialized_message.is_null() {
        return Err(Failure::null("serialized_message"));
    }
    // SAFETY: as above.
    let mut taken = unsafe { output("taken", taken) }?;
    taken.set(false);
    let sample = found.take()?;
    tracing::take(subscription, serialized_message.cast_const().cast(), sample.as_ref().map(|(sample, _)| sample));
    let Some((sample, number)) = sample else { return Ok(()) };
    // SAFETY: as above: the array is initialized, and its memory comes from its allocator.
    let body = unsafe { serialized::resize(serialized_message, sample.bytes().len()) }?;
    sample.copy_to(body);
    if let Some(mut info) = info {
        info.set(message_info(&sample, number));
    }
    taken.set(true);
    Ok(())
}

/// Returns the message info of a sample that was taken just now. `number` is the reception sequence number: it counts
/// the samples that this subscription took.
pub fn message_info(sample: &GenericSample, number: u64) -> rmw_message_info_t {
    let info = sample.message_info();
    let (publisher, sequence) = info.origin();
    let publisher_gid = rmw_gid_t { implementation_identifier: IDENTIFIER.as_ptr(), data: publisher.0 };
    rmw_message_info_t {
        source_timestamp: info.source_wall_time_ns.cast_signed(),
        received_timestamp: wall_time_ns(),
        publication_sequence_number: sequence,
        reception_sequence_number: number,
        publisher_gid,
        from_intra_process: false,
    }
}

/// The time of CLOCK_REALTIME in ns.
pub fn wall_time_ns() -> i64 {
    let since_epoch = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since_epoch.as_nanos()).unwrap_or(i64::MAX)
}
