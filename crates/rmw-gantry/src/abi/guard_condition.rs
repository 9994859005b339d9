//! Guard conditions.

use crate::{
    entities::GuardCondition,
    failure::{run, run_for_pointer},
    handle::{IDENTIFIER, entity, free},
};
use rmw_abi::bindings::*;

/// # Safety
/// Each pointer is null, or valid as the contract of rmw requires (`crate::handle`).
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
/// Each pointer is null, or valid as the contract of rmw requires (`crate::handle`).
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

/// A signal handler may call this function, because the function takes no lock and does not allocate.
///
/// # Safety
/// Each pointer is null, or valid as the contract of rmw requires (`crate::handle`).
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rmw_trigger_guard_condition(guard_condition: *const rmw_guard_condition_t) -> rmw_ret_t {
    run(c"rmw_trigger_guard_condition", || {
        // SAFETY: the contract of rmw.
        unsafe { entity(guard_condition) }?.flag.set();
        Ok(())
    })
}
