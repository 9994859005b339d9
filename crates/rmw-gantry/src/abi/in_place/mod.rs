//! Functions beside `rmw` that pass messages as CDR bytes in shared memory. `include/rmw_gantry.h` documents them.
//!
//! `gantry.h` declares the structs for loans, samples and their information, but this library fills them in itself. It
//! cannot use `gantry-c` for this: a process may load both libraries, and their exported symbols must not collide.

mod loan;
mod sample;

use crate::{
    entities::{Publisher, Subscription},
    failure::run,
    handle::{argument, entity, in_out, output, text},
    tracing,
};
use rmw_abi::{
    bindings::*,
    failure::{Failure, Result},
};
use std::{ffi::c_char, ptr::from_ref};

/// # Safety
/// No obligations; the function is `unsafe` only because C calls it.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rmw_gantry_in_place() -> *const rmw_gantry_functions {
    static FUNCTIONS: rmw_gantry_functions = rmw_gantry_functions {
        struct_size: size_of::<rmw_gantry_functions>(),
        take: Some(take),
        skip_malformed: Some(skip_malformed),
        loan: Some(loan),
        publish: Some(publish),
    };
    from_ref(&FUNCTIONS)
}

/// # Safety
/// Each pointer is null, or valid as the contract of rmw requires (`crate::handle`). The function overwrites `sample`
/// without releasing a sample in it.
unsafe extern "C" fn take(subscription: *const rmw_subscription_t, sample: *mut gantry_sample) -> rmw_ret_t {
    run(c"take of rmw_gantry_functions", || {
        // SAFETY: the contract of rmw. The sample is empty after each failure.
        let sample = unsafe { sample::clear(sample) }?;
        // SAFETY: as above.
        let found: &Subscription = unsafe { entity(subscription) }?;
        let taken = found.take()?.map(|(taken, _)| taken);
        let bytes = taken.as_ref().map_or(std::ptr::null(), |taken| taken.bytes().as_ptr());
        tracing::take(subscription, bytes.cast(), taken.as_ref());
        if let Some(taken) = taken {
            sample::write(sample, taken);
        }
        Ok(())
    })
}

/// # Safety
/// Each pointer is null, or valid as the contract of rmw requires (`crate::handle`); `sample` points to a sample of
/// this library.
unsafe extern "C" fn skip_malformed(
    subscription: *const rmw_subscription_t,
    sample: *const gantry_sample,
    why: *const c_char,
) -> rmw_ret_t {
    run(c"skip_malformed of rmw_gantry_functions", || {
        // SAFETY: the contract of rmw.
        let found: &Subscription = unsafe { entity(subscription) }?;
        // SAFETY: as above.
        let sample = sample::read(unsafe { argument("sample", sample) }?)?;
        // SAFETY: as above.
        found.skip_malformed(sample, unsafe { text("why", why) }?)
    })
}

/// # Safety
/// Each pointer is null, or valid as the contract of rmw requires (`crate::handle`). The function overwrites `loan`
/// without returning a loan in it.
unsafe extern "C" fn loan(publisher: *const rmw_publisher_t, size: usize, loan: *mut gantry_loan) -> rmw_ret_t {
    run(c"loan of rmw_gantry_functions", || {
        // SAFETY: the contract of rmw.
        let loan = unsafe { loan::clear(loan) }?;
        // SAFETY: as above.
        let found: &Publisher = unsafe { entity(publisher) }?;
        loan::write(loan, found.loan(size)?);
        Ok(())
    })
}

/// # Safety
/// Each pointer is null, or valid as the contract of rmw requires (`crate::handle`); `loan` points to a struct that is
/// empty or holds a loan.
unsafe extern "C" fn publish(publisher: *const rmw_publisher_t, loan: *mut gantry_loan) -> rmw_ret_t {
    run(c"publish of rmw_gantry_functions", || {
        // SAFETY: the contract of rmw.
        let found: &Publisher = unsafe { entity(publisher) }?;
        // SAFETY: as above.
        let loan = unsafe { in_out("loan", loan) }?;
        let taken = loan::take(loan)?;
        let time = tracing::publish(publisher, taken.bytes().as_ptr().cast());
        let mut taken = Some(taken);
        let published = found.publish_in_place(&mut taken, time);
        if let Some(kept) = taken {
            loan::write(loan, kept); // the program still has it
        }
        published
    })
}
