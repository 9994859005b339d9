//! Wait sets: each waits for sources of any kind (subscriptions, services, clients, timers, events, guard conditions).
//!
//! Invariant: a wait set keeps no source after a wait, so a program may destroy sources and wait sets in any order.

use crate::{
    abi::{self, OK, Status, TIMEOUT, WaitSource},
    border::{
        argument::{create, destroy, exclusive, shared, timeout},
        failure::{Failure, Result, run},
    },
    entities::{
        client::Client, events::Events, guard_condition::GuardCondition, service::Service, subscription::Subscription,
        timer::Timer,
    },
    node::{Node, node},
};
use gantry::Waitable;
use std::collections::BTreeSet;

/// `gantry_wait_set`.
pub struct WaitSet(gantry::WaitSet);

/// A source, borrowed for one wait.
enum Source<'a> {
    Endpoint(&'a mut dyn Waitable),
    Timer(gantry::Timer),
    GuardCondition(gantry::GuardCondition),
    Events(&'a mut Events),
}

impl<'a> Source<'a> {
    /// # Errors
    /// The handle is NULL, or its kind is not a number of the header.
    ///
    /// # Safety
    /// H1: `given` has a handle of the given kind, and no other [`Source`] of this handle exists.
    unsafe fn new(given: &WaitSource) -> Result<Source<'a>> {
        /// # Safety
        /// H1: the handle has the type `T`.
        unsafe fn handle<'a, T>(source: &WaitSource) -> Result<&'a mut T> {
            // SAFETY: H1.
            unsafe { exclusive("source", source.source.cast::<T>()) }
        }
        Ok(match given.kind {
            // SAFETY: H1.
            abi::SOURCE_SUBSCRIPTION => Source::Endpoint(&mut unsafe { handle::<Subscription>(given) }?.inner),
            // SAFETY: H1.
            abi::SOURCE_SERVICE => Source::Endpoint(&mut unsafe { handle::<Service>(given) }?.inner),
            // SAFETY: H1.
            abi::SOURCE_CLIENT => Source::Endpoint(&mut unsafe { handle::<Client>(given) }?.inner),
            // SAFETY: H1.
            abi::SOURCE_EVENTS => Source::Events(unsafe { handle(given) }?),
            abi::SOURCE_TIMER => {
                // SAFETY: H1.
                let timer = unsafe { shared("source", given.source.cast::<Timer>()) }?;
                Source::Timer(timer.0.clone())
            }
            abi::SOURCE_GUARD_CONDITION => {
                // SAFETY: H1.
                let guard_condition = unsafe { shared("source", given.source.cast::<GuardCondition>()) }?;
                Source::GuardCondition(guard_condition.another())
            }
            kind => {
                return Err(Failure::invalid(format_args!(
                    "a gantry_wait_source has the kind {kind}; it is one of GANTRY_SOURCE_SUBSCRIPTION (1) to \
                     GANTRY_SOURCE_EVENTS (6)"
                )));
            }
        })
    }

    fn waitable(&mut self) -> &mut dyn Waitable {
        match self {
            Source::Endpoint(endpoint) => *endpoint,
            Source::Timer(timer) => timer,
            Source::GuardCondition(guard_condition) => guard_condition,
            Source::Events(events) => events.waitable(),
        }
    }
}

/// # Safety
/// H1 and H2.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gantry_wait_set_create(handle: *const Node, wait_set: *mut *mut WaitSet) -> Status {
    // SAFETY: H1.
    let make = || Ok(WaitSet(gantry::WaitSet::new(unsafe { node(handle) }?)?));
    // SAFETY: H2.
    unsafe { create("wait_set", wait_set, make) }
}

/// # Safety
/// H1.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gantry_wait_set_destroy(wait_set: *mut WaitSet) {
    // SAFETY: H1.
    unsafe { destroy(wait_set) }
}

/// # Safety
/// H1 and H2.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gantry_wait_set_wait(
    wait_set: *mut WaitSet,
    sources: *mut WaitSource,
    count: usize,
    timeout_ns: i64,
) -> Status {
    run(|| {
        // SAFETY: H1.
        let wait_set = unsafe { exclusive("wait_set", wait_set) }?;
        // SAFETY: H2.
        let given = unsafe { elements(sources, count) }?;
        check_that_all_differ(given)?;
        given.iter_mut().for_each(|source| source.is_ready = 0);
        // SAFETY: H1; the check above has found no handle twice.
        let mut sources = given.iter().map(|source| unsafe { Source::new(source) }).collect::<Result<Vec<_>>>()?;
        let mut waitables: Vec<&mut dyn Waitable> = sources.iter_mut().map(Source::waitable).collect();
        let waited = wait_set.0.wait(&mut waitables, timeout(timeout_ns));
        let is_any_ready = waited.map_err(Failure::from).and_then(|is_ready| {
            if is_ready {
                for (waitable, given) in waitables.iter_mut().zip(given) {
                    given.is_ready = u8::from(waitable.is_ready()?);
                }
            }
            Ok(is_ready)
        });
        for source in &mut sources {
            if let Source::Events(events) = source {
                events.arm();
            }
        }
        Ok(if is_any_ready? { OK } else { TIMEOUT })
    })
}

/// Converts the array of sources that the caller passes.
///
/// # Errors
/// `sources` is NULL although `count` is not 0, or `count` is larger than memory.
///
/// # Safety
/// H2.
unsafe fn elements<'a>(sources: *mut WaitSource, count: usize) -> Result<&'a mut [WaitSource]> {
    if count == 0 {
        return Ok(&mut []);
    }
    // SAFETY: H2.
    unsafe { exclusive("sources", sources) }?;
    if count > isize::MAX as usize / size_of::<WaitSource>() {
        return Err(Failure::invalid(format_args!(
            "the argument sources has {count} elements, which is too large: check that the number is not negative"
        )));
    }
    // SAFETY: H2.
    Ok(unsafe { std::slice::from_raw_parts_mut(sources, count) })
}

fn check_that_all_differ(sources: &[WaitSource]) -> Result<()> {
    let mut seen = BTreeSet::new();
    match sources.iter().position(|source| !seen.insert(source.source)) {
        None => Ok(()),
        Some(index) => Err(Failure::invalid(format_args!(
            "source {index} of the wait is in the array twice; a wait has each source once"
        ))),
    }
}
