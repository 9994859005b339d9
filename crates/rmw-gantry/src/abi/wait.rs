//! Wait sets.

use super::event::event;
use crate::{
    entities::{AnySource, Client, Conditions, GuardCondition, Service, Subscription, WaitSet},
    failure::{run, run_for_pointer},
    handle::{IDENTIFIER, entity, free},
};
use rmw_abi::{
    bindings::*,
    failure::{Failure, Result},
};
use std::{
    ffi::c_void,
    slice,
    time::{Duration, Instant},
};

/// A wait may have any number of conditions: the function ignores `_max_conditions`.
///
/// # Safety
/// Each pointer is null, or valid as the contract of rmw requires (`crate::handle`).
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rmw_create_wait_set(
    context: *mut rmw_context_t,
    _max_conditions: usize,
) -> *mut rmw_wait_set_t {
    run_for_pointer(c"rmw_create_wait_set", || {
        // SAFETY: the contract of rmw.
        let context = unsafe { entity(context.cast_const()) }?;
        let data = Box::into_raw(Box::new(WaitSet::new(context.domain_id)?)).cast();
        let (implementation_identifier, guard_conditions) = (IDENTIFIER.as_ptr(), std::ptr::null_mut());
        Ok(Box::into_raw(Box::new(rmw_wait_set_t { implementation_identifier, guard_conditions, data })))
    })
}

/// # Safety
/// Each pointer is null, or valid as the contract of rmw requires (`crate::handle`).
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rmw_destroy_wait_set(wait_set: *mut rmw_wait_set_t) -> rmw_ret_t {
    run(c"rmw_destroy_wait_set", || {
        if wait_set.is_null() {
            // The headers of `rmw` require `RMW_RET_ERROR` for a null wait set, and not `RMW_RET_INVALID_ARGUMENT`.
            return Err(Failure::error("the wait set to be destroyed is null"));
        }
        // SAFETY: the contract of rmw.
        unsafe { entity(wait_set.cast_const()) }?;
        // SAFETY: as above: `rmw_create_wait_set` made the handle, which the program does not use any more.
        unsafe { free(wait_set) };
        Ok(())
    })
}

/// # Safety
/// Each pointer is null, or valid as the contract of rmw requires (`crate::handle`), also for each element of the
/// arrays. An element of `events` is an event handle; an element of another array is the `data` of a handle.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rmw_wait(
    subscriptions: *mut rmw_subscriptions_t,
    guard_conditions: *mut rmw_guard_conditions_t,
    services: *mut rmw_services_t,
    clients: *mut rmw_clients_t,
    events: *mut rmw_events_t,
    wait_set: *mut rmw_wait_set_t,
    wait_timeout: *const rmw_time_t,
) -> rmw_ret_t {
    let mut is_any_ready = true;
    let code = run(c"rmw_wait", || {
        // SAFETY: the contract of rmw.
        let wait_set = unsafe { entity(wait_set.cast_const()) }?;
        // SAFETY: `wait_timeout` is null, or points to a time that stays unchanged during the call.
        let deadline = unsafe { wait_timeout.as_ref() }.and_then(deadline);
        macro_rules! array {
            ($pointer:ident, $data:ident, $count:ident) => {
                // SAFETY: the pointer is null, or points to a struct with the address and length of an array that no
                // other code uses.
                match unsafe { $pointer.as_ref() } {
                    // SAFETY: as above.
                    Some(array) => unsafe { elements(array.$data, array.$count) }?,
                    None => &mut [],
                }
            };
        }
        let subscriptions = array!(subscriptions, subscribers, subscriber_count);
        let guard_conditions = array!(guard_conditions, guard_conditions, guard_condition_count);
        let services = array!(services, services, service_count);
        let clients = array!(clients, clients, client_count);
        let events = array!(events, events, event_count);
        // SAFETY: the promises of the caller, for each array.
        let mut conditions = unsafe { conditions_of(subscriptions, guard_conditions, services, clients, events) }?;
        is_any_ready = wait_set.wait(&mut conditions, deadline)?;
        let Conditions { sources, guard_conditions: guards, events: kinds } = &conditions;
        let mut sources = sources.iter().map(|(_, is_ready)| *is_ready);
        clear(subscriptions, &mut sources);
        clear(services, &mut sources);
        clear(clients, &mut sources);
        clear(guard_conditions, guards.iter().map(|(_, is_ready)| *is_ready));
        clear(events, kinds.iter().map(|(_, is_ready)| *is_ready));
        Ok(())
    });
    if code == RMW_RET_OK && !is_any_ready { RMW_RET_TIMEOUT } else { code }
}

/// Returns the end of a wait that starts now; `None` if the clock cannot represent that time.
fn deadline(timeout: &rmw_time_t) -> Option<Instant> {
    let timeout = Duration::from_secs(timeout.sec).checked_add(Duration::from_nanos(timeout.nsec))?;
    Instant::now().checked_add(timeout)
}

/// Converts an array from the caller to a slice.
///
/// # Errors
/// `count` is not 0, but `data` is null.
///
/// # Safety
/// `data` points to an array of `count` elements, which no other code uses as long as the result is used.
unsafe fn elements<'a>(data: *mut *mut c_void, count: usize) -> Result<&'a mut [*mut c_void]> {
    match (data.is_null(), count) {
        (_, 0) => Ok(&mut []),
        (true, count) => Err(Failure::invalid(format_args!("an array of {count} conditions is null"))),
        // SAFETY: the promise of the caller.
        (false, count) => Ok(unsafe { slice::from_raw_parts_mut(data, count) }),
    }
}

/// Returns the conditions to which the arrays point, without the null elements.
///
/// # Safety
/// Each element of `events` is null or an event handle. Each element of another array is null or the `data` of a handle
/// of the array's type. All entities behind the elements live as long as the result is used.
unsafe fn conditions_of<'a>(
    subscriptions: &[*mut c_void],
    guard_conditions: &[*mut c_void],
    services: &[*mut c_void],
    clients: &[*mut c_void],
    events: &[*mut c_void],
) -> Result<Conditions<'a>> {
    let mut conditions = Conditions::default();
    let sources = &mut conditions.sources;
    sources.reserve(subscriptions.len() + services.len() + clients.len());
    // SAFETY: the promise of the caller, here and below.
    let of_subscriptions = subscriptions.iter().filter_map(|data| unsafe { data.cast::<Subscription>().as_ref() });
    sources.extend(of_subscriptions.map(|subscription| (&*subscription.source as &dyn AnySource, false)));
    // SAFETY: as above.
    let of_services = services.iter().filter_map(|data| unsafe { data.cast::<Service>().as_ref() });
    sources.extend(of_services.map(|service| (&*service.source as &dyn AnySource, false)));
    // SAFETY: as above.
    let of_clients = clients.iter().filter_map(|data| unsafe { data.cast::<Client>().as_ref() });
    sources.extend(of_clients.map(|client| (&*client.source as &dyn AnySource, false)));
    // SAFETY: as above.
    let of_guards = guard_conditions.iter().filter_map(|data| unsafe { data.cast::<GuardCondition>().as_ref() });
    conditions.guard_conditions.extend(of_guards.map(|guard_condition| (guard_condition, false)));
    for handle in events.iter().filter(|handle| !handle.is_null()) {
        // SAFETY: as above.
        conditions.events.push((unsafe { event(handle.cast()) }?, false));
    }
    Ok(conditions)
}

/// Sets the elements that are not ready to null. `are_ready` yields one flag for each element that is not null.
fn clear(array: &mut [*mut c_void], mut are_ready: impl Iterator<Item = bool>) {
    for element in array.iter_mut().filter(|element| !element.is_null()) {
        if are_ready.next() != Some(true) {
            *element = std::ptr::null_mut();
        }
    }
}
