//! QoS events. The `data` of an event handle points to an [`Event`] that the endpoint owns, so no function destroys an
//! event handle.

use crate::{
    entities::Event,
    failure::run,
    handle::{IDENTIFIER, argument, check_identifier, entity, in_out, output},
};
use rmw_abi::{
    bindings::*,
    distribution,
    failure::{Failure, Result},
};
use std::ffi::c_void;

/// The event behind a handle.
///
/// # Safety
/// Each pointer is null, or valid as the contract of rmw requires (`crate::handle`). The publisher or subscription of
/// the event is not destroyed while the result is used.
pub unsafe fn event<'a>(event: *const rmw_event_t) -> Result<&'a Event> {
    // SAFETY: the promise of the caller.
    let handle = unsafe { argument("event", event) }?;
    // SAFETY: as above.
    unsafe { check_identifier("event", handle.implementation_identifier) }?;
    // SAFETY: as above: the functions below set the `data` of the handle.
    unsafe { handle.data.cast::<Event>().as_ref() }.ok_or_else(|| Failure::invalid("the event is not initialized"))
}

/// Fills in the event handle.
///
/// # Safety
/// `handle` is null, or points to a handle that no other code uses.
unsafe fn init(handle: *mut rmw_event_t, event: &Event, event_type: rmw_event_type_t) -> Result<()> {
    // SAFETY: the promise of the caller.
    let handle = unsafe { in_out("rmw_event", handle) }?;
    if !handle.implementation_identifier.is_null() {
        return Err(Failure::invalid("the event is initialized already: a new one is zero-initialized"));
    }
    let data = std::ptr::from_ref(event).cast_mut().cast::<c_void>();
    *handle = rmw_event_t { implementation_identifier: IDENTIFIER.as_ptr(), data, event_type };
    Ok(())
}

/// # Safety
/// Each pointer is null, or valid as the contract of rmw requires (`crate::handle`).
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rmw_publisher_event_init(
    rmw_event: *mut rmw_event_t,
    publisher: *const rmw_publisher_t,
    event_type: rmw_event_type_t,
) -> rmw_ret_t {
    run(c"rmw_publisher_event_init", || {
        // SAFETY: the contract of rmw.
        let publisher = unsafe { entity(publisher) }?;
        let event = publisher
            .events
            .event(distribution::event_kind(event_type)?, || publisher.library.with(|library| Ok(library.events()?)))?;
        // SAFETY: as above.
        unsafe { init(rmw_event, event, event_type) }
    })
}

/// # Safety
/// Each pointer is null, or valid as the contract of rmw requires (`crate::handle`).
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rmw_subscription_event_init(
    rmw_event: *mut rmw_event_t,
    subscription: *const rmw_subscription_t,
    event_type: rmw_event_type_t,
) -> rmw_ret_t {
    run(c"rmw_subscription_event_init", || {
        // SAFETY: the contract of rmw.
        let subscription = unsafe { entity(subscription) }?;
        let event = subscription.events.event(distribution::event_kind(event_type)?, || {
            subscription.source.library.with(|library| Ok(library.library.events()?))
        })?;
        // SAFETY: as above.
        unsafe { init(rmw_event, event, event_type) }
    })
}

/// # Safety
/// Each pointer is null, or valid as the contract of rmw requires (`crate::handle`).
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rmw_take_event(
    event_handle: *const rmw_event_t,
    event_info: *mut c_void,
    taken: *mut bool,
) -> rmw_ret_t {
    run(c"rmw_take_event", || {
        // SAFETY: the contract of rmw.
        let event = unsafe { event(event_handle) }?;
        if event_info.is_null() {
            return Err(Failure::null("event_info"));
        }
        // SAFETY: as above.
        let mut taken = unsafe { output("taken", taken) }?;
        // SAFETY: as above: `event_info` points to the status struct for this type of event.
        unsafe { event.take(event_info) };
        taken.set(true);
        Ok(())
    })
}

/// A thread of this library calls the callback. The first call comes at once if events have happened already.
///
/// # Safety
/// Each pointer is null, or valid as the contract of rmw requires (`crate::handle`).
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rmw_event_set_callback(
    event: *mut rmw_event_t,
    callback: rmw_event_callback_t,
    user_data: *const c_void,
) -> rmw_ret_t {
    run(c"rmw_event_set_callback", || {
        // SAFETY: the contract of rmw.
        let found = unsafe { self::event(event.cast_const()) }?;
        // SAFETY: as above: the callback may be called with `user_data` until it is replaced.
        unsafe { found.set_callback(callback, user_data) };
        Ok(())
    })
}
