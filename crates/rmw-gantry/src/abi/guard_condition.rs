//! Guard conditions.

use crate::{
    entities::GuardCondition,
    failure::{run, run_for_pointer},
    handle::{IDENTIFIER, entity, free},
};
use rmw_abi::bindings::*;

/// # Safety
/// The caller keeps the contract of rmw (`crate::handle`).
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rmw_create_guard_condition(context: *mut rmw_context_t) -> *mut rmw_guard_condition_t {
    run_for_pointer(c"rmw_create_guard_condition", || {
        // SAFETY: the contract of rmw.
        unsafe { entity(context.cast_const()) }?;
        let data = Box::into_raw(Box::<GuardCondition>::default()).cast();
        let implementation_identifier = IDENTIFIER.as_ptr();
        Ok(Box::into_raw(Box::new(rmw_guard_condition_t { implementation_identifier, data, context })))
    })
}

/// # Safety
/// The caller keeps the contract of rmw (`crate::handle`).
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rmw_destroy_guard_condition(guard_condition: *mut rmw_guard_condition_t) -> rmw_ret_t {
    run(c"rmw_destroy_guard_condition", || {
        // SAFETY: the contract of rmw.
        unsafe { entity(guard_condition.cast_const()) }?;
        // SAFETY: as above: `rmw_create_guard_condition` made the handle, which the program does not use any more.
        unsafe { free(guard_condition) };
        Ok(())
    })
}

/// The function takes no lock and does not allocate, so a signal handler may call it.
///
/// # Safety
/// The caller keeps the contract of rmw (`crate::handle`).
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rmw_trigger_guard_condition(guard_condition: *const rmw_guard_condition_t) -> rmw_ret_t {
    run(c"rmw_trigger_guard_condition", || {
        // SAFETY: the contract of rmw.
        unsafe { entity(guard_condition) }?.flag.set();
        Ok(())
    })
}
