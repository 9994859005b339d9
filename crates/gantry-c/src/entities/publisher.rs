//! Publishers.

use crate::{
    abi::{self, Gid, OK, SourceTime, Status, TIMEOUT},
    border::{
        argument::{bytes, c_string, create, destroy, exclusive, optional_output, output, shared, text, timeout},
        failure::{Result, run, run_for},
    },
    entities::events::Events,
    node::{Node, node},
    values::{
        convert,
        lists::Strings,
        loan::{Loan, give},
    },
};
use gantry::{GenericLoan, GenericPublisher, PublishError};
use std::{
    ffi::{CString, c_char},
    ptr::null,
};

/// `gantry_publisher`.
pub struct Publisher {
    inner: GenericPublisher,
    topic: CString,
}

impl Publisher {
    fn new(inner: GenericPublisher) -> Publisher {
        Publisher { topic: c_string(inner.topic()), inner }
    }
}

/// # Safety
/// H1.
#[inline]
unsafe fn publisher<'a>(publisher: *mut Publisher) -> Result<&'a mut GenericPublisher> {
    // SAFETY: H1.
    Ok(&mut unsafe { exclusive("publisher", publisher) }?.inner)
}

/// # Safety
/// H1 and H2.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gantry_publisher_create(
    handle: *const Node,
    topic: *const c_char,
    message_type: *const abi::Type,
    qos: *const abi::Qos,
    options: *const abi::PublisherOptions,
    publisher: *mut *mut Publisher,
) -> Status {
    let make = || {
        // SAFETY: H1.
        let node = unsafe { node(handle) }?;
        // SAFETY: H2.
        let topic = unsafe { text("topic", topic) }?;
        // SAFETY: H2.
        let message_type = unsafe { convert::message_type("type", message_type) }?;
        // SAFETY: H2.
        let qos = unsafe { convert::qos(qos) }?;
        // SAFETY: H2.
        let options = unsafe { convert::publisher_options(options) }?;
        Ok(Publisher::new(node.create_generic_publisher_with_options(topic, message_type, qos, options)?))
    };
    // SAFETY: H2.
    unsafe { create("publisher", publisher, make) }
}

/// # Safety
/// H1 and H2.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gantry_publisher_clone(original: *const Publisher, clone: *mut *mut Publisher) -> Status {
    // SAFETY: H1.
    let make = || Ok(Publisher::new(unsafe { shared("publisher", original) }?.inner.try_clone()?));
    // SAFETY: H2.
    unsafe { create("clone", clone, make) }
}

/// # Safety
/// H1.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gantry_publisher_destroy(publisher: *mut Publisher) {
    // SAFETY: H1.
    unsafe { destroy(publisher) }
}

/// # Safety
/// H1 and H2. The function overwrites `loan` without returning a loan in it.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gantry_publisher_loan(handle: *mut Publisher, size: usize, loan: *mut Loan) -> Status {
    // SAFETY: H1.
    let make = || Ok(unsafe { publisher(handle) }?.loan(size)?);
    // SAFETY: H2.
    unsafe { give(loan, make) }
}

/// # Safety
/// H1, H2 and H3.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gantry_publisher_publish(
    handle: *mut Publisher,
    loan: *mut Loan,
    sequence: *mut u64,
) -> Status {
    // SAFETY: the caller promises the same.
    unsafe { publish(handle, loan, sequence, GenericPublisher::publish) }
}

/// # Safety
/// H1, H2 and H3.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gantry_publisher_publish_at(
    handle: *mut Publisher,
    loan: *mut Loan,
    time: SourceTime,
    sequence: *mut u64,
) -> Status {
    let time = gantry::SourceTime { monotonic_ns: time.monotonic_ns, wall_ns: time.wall_ns };
    // SAFETY: the caller promises the same.
    unsafe { publish(handle, loan, sequence, |publisher, loan| publisher.publish_at(loan, time)) }
}

/// # Safety
/// H1, H2 and H3.
#[inline]
unsafe fn publish(
    handle: *mut Publisher,
    loan: *mut Loan,
    sequence: *mut u64,
    publish: impl FnOnce(&mut GenericPublisher, GenericLoan) -> std::result::Result<u64, PublishError<GenericLoan>>,
) -> Status {
    run(|| {
        // SAFETY: H1.
        let publisher = unsafe { publisher(handle) }?;
        // SAFETY: H3.
        let loan = unsafe { exclusive("loan", loan) }?;
        let published = keep_if_failed(loan, |taken| publish(publisher, taken))?;
        // SAFETY: H2.
        if let Some(sequence) = unsafe { optional_output(sequence) } {
            sequence.set(published);
        }
        Ok(OK)
    })
}

/// Moves the loan out of the struct and passes it to `send`. If `send` fails, the loan moves back into the struct.
///
/// # Errors
/// The struct is empty; or an error of `send`.
#[inline]
pub fn keep_if_failed<R>(
    loan: &mut Loan,
    send: impl FnOnce(GenericLoan) -> std::result::Result<R, PublishError<GenericLoan>>,
) -> Result<R> {
    send(loan.take_required()?).map_err(|PublishError { loan: kept, error }| {
        *loan = Loan::new(kept);
        (*error).into()
    })
}

/// # Safety
/// H1 and H2.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gantry_publisher_publish_copy(
    handle: *mut Publisher,
    data: *const u8,
    size: usize,
    sequence: *mut u64,
) -> Status {
    run(|| {
        // SAFETY: H2.
        let message = unsafe { bytes("data", data, size) }?;
        // SAFETY: H1.
        let published = unsafe { publisher(handle) }?.publish_copy(message)?;
        // SAFETY: H2.
        if let Some(sequence) = unsafe { optional_output(sequence) } {
            sequence.set(published);
        }
        Ok(OK)
    })
}

/// # Safety
/// H1.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gantry_publisher_assert_liveliness(handle: *mut Publisher) -> Status {
    run(|| {
        // SAFETY: H1.
        unsafe { publisher(handle) }?.assert_liveliness()?;
        Ok(OK)
    })
}

/// # Safety
/// H1 and H2.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gantry_publisher_subscription_count(handle: *mut Publisher, count: *mut usize) -> Status {
    run(|| {
        // SAFETY: H1.
        let matched = unsafe { publisher(handle) }?.subscription_count()?;
        // SAFETY: H2.
        unsafe { output("count", count) }?.set(matched);
        Ok(OK)
    })
}

/// # Safety
/// H1.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gantry_publisher_wait_for_subscriptions(
    handle: *mut Publisher,
    count: usize,
    timeout_ns: i64,
) -> Status {
    run(|| {
        // SAFETY: H1.
        let are_matched = unsafe { publisher(handle) }?.wait_for_subscriptions(count, timeout(timeout_ns))?;
        Ok(if are_matched { OK } else { TIMEOUT })
    })
}

/// # Safety
/// H1 and H2.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gantry_publisher_mismatches(handle: *mut Publisher, sentences: *mut *mut Strings) -> Status {
    // SAFETY: H1.
    let make = || Ok(Strings::new(unsafe { publisher(handle) }?.mismatches()?));
    // SAFETY: H2.
    unsafe { create("sentences", sentences, make) }
}

/// # Safety
/// H1 and H2.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gantry_publisher_events(handle: *mut Publisher, events: *mut *mut Events) -> Status {
    // SAFETY: H1.
    let make = || Ok(Events::of_publisher(unsafe { publisher(handle) }?.events()?));
    // SAFETY: H2.
    unsafe { create("events", events, make) }
}

/// # Safety
/// H1 and H2.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gantry_publisher_get_gid(handle: *const Publisher, gid: *mut Gid) -> Status {
    run(|| {
        // SAFETY: H1.
        let found = unsafe { shared("publisher", handle) }?.inner.gid();
        // SAFETY: H2.
        unsafe { output("gid", gid) }?.set(convert::gid(found));
        Ok(OK)
    })
}

/// # Safety
/// H1.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gantry_publisher_topic(handle: *const Publisher) -> *const c_char {
    // SAFETY: H1.
    run_for(null(), || Ok(unsafe { shared("publisher", handle) }?.topic.as_ptr()))
}

/// # Safety
/// H1.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gantry_publisher_memory_bytes(handle: *const Publisher) -> usize {
    // SAFETY: H1.
    run_for(0, || Ok(unsafe { shared("publisher", handle) }?.inner.memory_bytes()))
}
