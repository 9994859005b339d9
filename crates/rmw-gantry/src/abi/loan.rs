//! Loans of messages in shared memory. A program borrows memory for a message to publish (plain types only), or takes a
//! message on loan (plain types, and types with long sequences). The struct of a plain type has the same bytes as its
//! CDR body.

use super::take::message_info;
use crate::{
    entities::{Publisher, Subscription},
    failure::run,
    handle::{Output, entity, in_out, output},
    tracing,
};
use rmw_abi::{
    bindings::*,
    failure::{Failure, Result},
};
use std::ffi::c_void;

/// The caller has to write every field: the message contains zeros, or the bytes of an earlier message.
///
/// # Safety
/// Each pointer is null, or valid as the contract of rmw requires (`crate::handle`).
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rmw_borrow_loaned_message(
    publisher: *const rmw_publisher_t,
    type_support: *const rosidl_message_type_support_t,
    ros_message: *mut *mut c_void,
) -> rmw_ret_t {
    run(c"rmw_borrow_loaned_message", || {
        // SAFETY: the contract of rmw.
        let publisher = unsafe { entity(publisher) }?;
        if type_support.is_null() {
            return Err(Failure::null("type_support"));
        }
        // SAFETY: as above.
        let message = unsafe { in_out("ros_message", ros_message) }?;
        if !message.is_null() {
            return Err(Failure::invalid("*ros_message is not null: it would be overwritten"));
        }
        *message = publisher.borrow()?;
        Ok(())
    })
}

/// # Safety
/// Each pointer is null, or valid as the contract of rmw requires (`crate::handle`).
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rmw_return_loaned_message_from_publisher(
    publisher: *const rmw_publisher_t,
    loaned_message: *mut c_void,
) -> rmw_ret_t {
    run(c"rmw_return_loaned_message_from_publisher", || {
        // SAFETY: the contract of rmw.
        let publisher = unsafe { entity(publisher) }?;
        if loaned_message.is_null() {
            return Err(Failure::null("loaned_message"));
        }
        publisher.return_loan(loaned_message)
    })
}

/// # Safety
/// Each pointer is null, or valid as the contract of rmw requires (`crate::handle`).
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rmw_publish_loaned_message(
    publisher: *const rmw_publisher_t,
    ros_message: *mut c_void,
    _allocation: *mut rmw_publisher_allocation_t,
) -> rmw_ret_t {
    run(c"rmw_publish_loaned_message", || {
        // SAFETY: the contract of rmw.
        let found: &Publisher = unsafe { entity(publisher) }?;
        if ros_message.is_null() {
            return Err(Failure::null("ros_message"));
        }
        found.publish_loan(ros_message, tracing::publish(publisher, ros_message))
    })
}

/// A plain message lies in the memory of its publisher, which is mapped read-only. So do the long sequences of other
/// messages. A write to this memory ends the process with a signal.
///
/// # Safety
/// Each pointer is null, or valid as the contract of rmw requires (`crate::handle`).
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rmw_take_loaned_message(
    subscription: *const rmw_subscription_t,
    loaned_message: *mut *mut c_void,
    taken: *mut bool,
    _allocation: *mut rmw_subscription_allocation_t,
) -> rmw_ret_t {
    run(c"rmw_take_loaned_message", || {
        // SAFETY: the contract of rmw, which includes the promises of `take_loan`.
        unsafe { take_loan(subscription, loaned_message, taken, None) }
    })
}

/// Does the same as `rmw_take_loaned_message`, and also returns the message info.
///
/// # Safety
/// Each pointer is null, or valid as the contract of rmw requires (`crate::handle`).
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rmw_take_loaned_message_with_info(
    subscription: *const rmw_subscription_t,
    loaned_message: *mut *mut c_void,
    taken: *mut bool,
    message_info: *mut rmw_message_info_t,
    _allocation: *mut rmw_subscription_allocation_t,
) -> rmw_ret_t {
    run(c"rmw_take_loaned_message_with_info", || {
        // SAFETY: the contract of rmw.
        let info = unsafe { output("message_info", message_info) }?;
        // SAFETY: as above.
        unsafe { take_loan(subscription, loaned_message, taken, Some(info)) }
    })
}

/// # Safety
/// The contract of rmw.
unsafe fn take_loan(
    subscription: *const rmw_subscription_t,
    loaned_message: *mut *mut c_void,
    taken: *mut bool,
    info: Option<Output<'_, rmw_message_info_t>>,
) -> Result<()> {
    // SAFETY: the promise of the caller.
    let found: &Subscription = unsafe { entity(subscription) }?;
    // SAFETY: as above.
    let message = unsafe { in_out("loaned_message", loaned_message) }?;
    // SAFETY: as above.
    let mut taken = unsafe { output("taken", taken) }?;
    if !message.is_null() {
        return Err(Failure::invalid("*loaned_message is not null: it would be overwritten"));
    }
    taken.set(false);
    let loan = found.loan(|loan, sample, number| {
        tracing::take(subscription, loan, Some(sample));
        if let Some(mut info) = info {
            info.set(message_info(sample, number));
        }
    })?;
    match loan {
        Some(loan) => {
            *message = loan;
            taken.set(true);
        }
        None => tracing::take(subscription, std::ptr::null(), None),
    }
    Ok(())
}

/// # Safety
/// Each pointer is null, or valid as the contract of rmw requires (`crate::handle`).
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rmw_return_loaned_message_from_subscription(
    subscription: *const rmw_subscription_t,
    loaned_message: *mut c_void,
) -> rmw_ret_t {
    run(c"rmw_return_loaned_message_from_subscription", || {
        // SAFETY: the contract of rmw.
        let subscription = unsafe { entity(subscription) }?;
        if loaned_message.is_null() {
            return Err(Failure::null("loaned_message"));
        }
        subscription.return_loan(loaned_message)
    })
}
