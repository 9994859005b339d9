//! Timers. Any number of threads may use a handle at once.

use crate::{
    abi::{NONE, OK, Status, Tick},
    border::{
        argument::{create, destroy, shared},
        failure::{Result, run, run_for},
        sized::sized_output,
    },
    node::{Node, node},
};
use std::time::Duration;

/// `gantry_timer`.
pub struct Timer(pub gantry::Timer);

/// # Safety
/// H1.
unsafe fn timer<'a>(timer: *const Timer) -> Result<&'a gantry::Timer> {
    // SAFETY: H1.
    Ok(&unsafe { shared("timer", timer) }?.0)
}

fn in_ns(time: Duration) -> u64 {
    u64::try_from(time.as_nanos()).unwrap_or(u64::MAX)
}

/// # Safety
/// H1 and H2.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gantry_timer_create(
    handle: *const Node,
    period_ns: u64,
    is_one_shot: bool,
    timer: *mut *mut Timer,
) -> Status {
    let make = || {
        // SAFETY: H1.
        let (clock, period) = (unsafe { node(handle) }?.clock(), Duration::from_nanos(period_ns));
        Ok(Timer(match is_one_shot {
            true => gantry::Timer::one_shot(clock, period)?,
            false => gantry::Timer::new(clock, period)?,
        }))
    };
    // SAFETY: H2.
    unsafe { create("timer", timer, make) }
}

/// # Safety
/// H1.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gantry_timer_destroy(timer: *mut Timer) {
    // SAFETY: H1.
    unsafe { destroy(timer) }
}

/// # Safety
/// H1 and H2.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gantry_timer_take(handle: *const Timer, tick: *mut Tick) -> Status {
    run(|| {
        // SAFETY: H2.
        let tick = unsafe { sized_output("tick", tick) }?;
        // `take` needs `&mut`, so it runs on a clone: other threads may use the timer at the same time.
        // SAFETY: H1.
        let Some(taken) = unsafe { timer(handle) }?.clone().take() else { return Ok(NONE) };
        let (scheduled_ns, noticed_ns) = (in_ns(taken.scheduled), in_ns(taken.noticed));
        tick.set(&Tick { struct_size: size_of::<Tick>(), scheduled_ns, noticed_ns, overruns: taken.overruns });
        Ok(OK)
    })
}

/// # Safety
/// H1.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gantry_timer_cancel(handle: *const Timer) -> Status {
    run(|| {
        // SAFETY: H1.
        unsafe { timer(handle) }?.cancel();
        Ok(OK)
    })
}

/// # Safety
/// H1.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gantry_timer_reset(handle: *const Timer) -> Status {
    run(|| {
        // SAFETY: H1.
        unsafe { timer(handle) }?.reset();
        Ok(OK)
    })
}

/// # Safety
/// H1.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gantry_timer_is_canceled(handle: *const Timer) -> bool {
    // SAFETY: H1.
    run_for(true, || Ok(unsafe { timer(handle) }?.is_canceled()))
}

/// # Safety
/// H1.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gantry_timer_time_until_trigger(handle: *const Timer) -> i64 {
    let in_ns = |time: Duration| i64::try_from(time.as_nanos()).unwrap_or(i64::MAX);
    // SAFETY: H1.
    run_for(-1, || Ok(unsafe { timer(handle) }?.time_until_trigger().map_or(-1, in_ns)))
}
