//! Subscriptions.

use crate::{
    abi::{self, Gid, NONE, OK, Status, SubscriptionCounts, TIMEOUT},
    border::{
        argument::{c_string, create, destroy, exclusive, output, shared, text, timeout},
        failure::{Failure, Result, run, run_for},
        sized::sized_output,
    },
    entities::events::Events,
    node::{Node, node},
    program::reason,
    values::{
        convert,
        lists::Strings,
        sample::{Message, Sample, sample_output},
    },
};
use gantry::GenericSubscription;
use std::{
    ffi::{CString, c_char},
    os::fd::AsRawFd,
    ptr::null,
};

/// `gantry_subscription`.
pub struct Subscription {
    /// The subscription.
    pub inner: GenericSubscription,
    topic: CString,
}

/// # Safety
/// H1.
#[inline]
unsafe fn subscription<'a>(subscription: *mut Subscription) -> Result<&'a mut GenericSubscription> {
    // SAFETY: H1.
    Ok(&mut unsafe { exclusive("subscription", subscription) }?.inner)
}

/// # Safety
/// H1 and H2.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gantry_subscription_create(
    handle: *const Node,
    topic: *const c_char,
    message_type: *const abi::Type,
    qos: *const abi::Qos,
    subscription: *mut *mut Subscription,
) -> Status {
    let make = || {
        // SAFETY: H1.
        let node = unsafe { node(handle) }?;
        // SAFETY: H2.
        let topic = unsafe { text("topic", topic) }?;
        // SAFETY: H2.
        let message_type = unsafe { convert::message_type("type", message_type) }?;
        // SAFETY: H2.
        let inner = node.create_generic_subscription(topic, message_type, unsafe { convert::qos(qos) }?)?;
        Ok(Subscription { topic: c_string(inner.topic()), inner })
    };
    // SAFETY: H2.
    unsafe { create("subscription", subscription, make) }
}

/// # Safety
/// H1.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gantry_subscription_destroy(subscription: *mut Subscription) {
    // SAFETY: H1.
    unsafe { destroy(subscription) }
}

/// # Safety
/// H1 and H2.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gantry_subscription_take(handle: *mut Subscription, sample: *mut Sample) -> Status {
    run(|| {
        // SAFETY: H2.
        let sample = unsafe { sample_output(sample) }?;
        // SAFETY: H1.
        let Some(taken) = unsafe { subscription(handle) }?.take()? else { return Ok(NONE) };
        *sample = Sample::new(Message::Sample(taken));
        Ok(OK)
    })
}

/// # Safety
/// H1.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gantry_subscription_wait(handle: *mut Subscription, timeout_ns: i64) -> Status {
    run(|| {
        // SAFETY: H1.
        let is_ready = unsafe { subscription(handle) }?.wait(timeout(timeout_ns))?;
        Ok(if is_ready { OK } else { TIMEOUT })
    })
}

/// # Safety
/// H1.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gantry_subscription_wait_for_publishers(
    handle: *mut Subscription,
    count: usize,
    timeout_ns: i64,
) -> Status {
    run(|| {
        // SAFETY: H1.
        let are_matched = unsafe { subscription(handle) }?.wait_for_publishers(count, timeout(timeout_ns))?;
        Ok(if are_matched { OK } else { TIMEOUT })
    })
}

/// # Safety
/// H1.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gantry_subscription_set_busy_wait(handle: *mut Subscription, on: bool) -> Status {
    run(|| {
        // SAFETY: H1.
        unsafe { subscription(handle) }?.set_busy_wait(on);
        Ok(OK)
    })
}

/// # Safety
/// H1.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gantry_subscription_set_max_held_samples(handle: *mut Subscription, limit: usize) -> Status {
    run(|| {
        // SAFETY: H1.
        unsafe { subscription(handle) }?.set_max_held_samples(limit);
        Ok(OK)
    })
}

/// # Safety
/// H1 and H2.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gantry_subscription_get_fd(handle: *mut Subscription, fd: *mut i32) -> Status {
    run(|| {
        // SAFETY: H1.
        let found = unsafe { subscription(handle) }?.descriptor()?.as_raw_fd();
        // SAFETY: H2.
        unsafe { output("fd", fd) }?.set(found);
        Ok(OK)
    })
}

/// # Safety
/// H1 and H2.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gantry_subscription_get_counts(
    handle: *mut Subscription,
    counts: *mut SubscriptionCounts,
) -> Status {
    run(|| {
        // SAFETY: H1.
        let subscription = unsafe { subscription(handle) }?;
        let received = subscription.received()?;
        let (overwritten, expired) = (subscription.overwritten(), subscription.expired());
        let malformed = subscription.malformed();
        let struct_size = size_of::<SubscriptionCounts>();
        let found = SubscriptionCounts { struct_size, received, overwritten, expired, malformed };
        // SAFETY: H2.
        unsafe { sized_output("counts", counts) }?.set(&found);
        Ok(OK)
    })
}

/// # Safety
/// H1.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gantry_subscription_overwritten(handle: *const Subscription) -> u64 {
    // SAFETY: H1.
    run_for(0, || Ok(unsafe { shared("subscription", handle) }?.inner.overwritten()))
}

/// # Safety
/// H1, H2 and H3.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gantry_subscription_skip_malformed(
    handle: *mut Subscription,
    sample: *const Sample,
    why: *const c_char,
) -> Status {
    run(|| {
        // SAFETY: H3.
        let Message::Sample(sample) = unsafe { shared("sample", sample) }?.message()? else {
            return Err(Failure::invalid("the sample belongs to a service or a client, not to a subscription"));
        };
        // SAFETY: H2.
        let why = unsafe { reason(why) }?;
        // SAFETY: H1.
        unsafe { subscription(handle) }?.skip_malformed(sample, why);
        Ok(OK)
    })
}

/// # Safety
/// H1 and H2.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gantry_subscription_publisher_count(handle: *mut Subscription, count: *mut usize) -> Status {
    run(|| {
        // SAFETY: H1.
        let matched = unsafe { subscription(handle) }?.publisher_count()?;
        // SAFETY: H2.
        unsafe { output("count", count) }?.set(matched);
        Ok(OK)
    })
}

/// # Safety
/// H1 and H2.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gantry_subscription_mismatches(
    handle: *mut Subscription,
    sentences: *mut *mut Strings,
) -> Status {
    // SAFETY: H1.
    let make = || Ok(Strings::new(unsafe { subscription(handle) }?.mismatches()));
    // SAFETY: H2.
    unsafe { create("sentences", sentences, make) }
}

/// # Safety
/// H1 and H2.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gantry_subscription_events(handle: *mut Subscription, events: *mut *mut Events) -> Status {
    // SAFETY: H1.
    let make = || Ok(Events::of_subscription(unsafe { subscription(handle) }?.events()?));
    // SAFETY: H2.
    unsafe { create("events", events, make) }
}

/// # Safety
/// H1 and H2.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gantry_subscription_get_gid(handle: *const Subscription, gid: *mut Gid) -> Status {
    run(|| {
        // SAFETY: H1.
        let found = unsafe { shared("subscription", handle) }?.inner.gid();
        // SAFETY: H2.
        unsafe { output("gid", gid) }?.set(convert::gid(found));
        Ok(OK)
    })
}

/// # Safety
/// H1.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gantry_subscription_topic(handle: *const Subscription) -> *const c_char {
    // SAFETY: H1.
    run_for(null(), || Ok(unsafe { shared("subscription", handle) }?.topic.as_ptr()))
}
