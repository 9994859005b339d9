//! Guard conditions, which a program triggers itself. Any number of threads may use a handle at once.

use crate::{
    abi::{NONE, OK, Status},
    border::{
        argument::{create, destroy, output, shared},
        event_fd::EventFd,
        failure::{Result, run},
    },
};
use gantry::{GuardCondition as Guard, Waitable};
use std::sync::{Arc, Mutex, PoisonError};

/// `gantry_guard_condition`.
pub struct GuardCondition {
    inner: Guard,
    /// The event descriptor, and a clone of the guard condition whose waker makes the descriptor readable.
    fd: Mutex<Option<(Guard, Arc<EventFd>)>>,
}

impl GuardCondition {
    /// Returns a clone of the guard condition, for one wait.
    pub fn another(&self) -> Guard {
        self.inner.clone()
    }
}

/// # Safety
/// H1.
unsafe fn guard_condition<'a>(handle: *const GuardCondition) -> Result<&'a GuardCondition> {
    // SAFETY: H1; the function only reads the handle.
    unsafe { shared("guard_condition", handle) }
}

/// # Safety
/// H2.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gantry_guard_condition_create(guard_condition: *mut *mut GuardCondition) -> Status {
    let make = || Ok(GuardCondition { inner: Guard::new(), fd: Mutex::default() });
    // SAFETY: H2.
    unsafe { create("guard_condition", guard_condition, make) }
}

/// # Safety
/// H1.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gantry_guard_condition_destroy(guard_condition: *mut GuardCondition) {
    // SAFETY: H1.
    unsafe { destroy(guard_condition) }
}

/// # Safety
/// H1.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gantry_guard_condition_trigger(handle: *const GuardCondition) -> Status {
    run(|| {
        // SAFETY: H1.
        unsafe { guard_condition(handle) }?.inner.trigger();
        Ok(OK)
    })
}

/// # Safety
/// H1.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gantry_guard_condition_take(handle: *const GuardCondition) -> Status {
    run(|| {
        // SAFETY: H1.
        let handle = unsafe { guard_condition(handle) }?;
        // The descriptor is drained before the take, so that a later trigger makes it readable again.
        if let Some((_, fd)) = &*handle.fd.lock().unwrap_or_else(PoisonError::into_inner) {
            fd.drain();
        }
        Ok(if handle.another().take() { OK } else { NONE })
    })
}

/// # Safety
/// H1 and H2.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gantry_guard_condition_get_fd(handle: *const GuardCondition, fd: *mut i32) -> Status {
    run(|| {
        // SAFETY: H1.
        let handle = unsafe { guard_condition(handle) }?;
        // SAFETY: H2.
        let output = unsafe { output("fd", fd) }?;
        let mut kept = handle.fd.lock().unwrap_or_else(PoisonError::into_inner);
        let number = match &*kept {
            Some((_, fd)) => fd.number(),
            None => {
                let (mut guard, fd) = (handle.another(), EventFd::new()?);
                guard.set_waker(Some(fd.waker()));
                let number = fd.number();
                *kept = Some((guard, fd));
                number
            }
        };
        output.set(number);
        Ok(OK)
    })
}
