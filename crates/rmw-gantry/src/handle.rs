//! Converts pointers from C to references to the entities (nodes, publishers and so on) behind them.
//!
//! An `rmw_*_t` of this library is a heap box. Its `implementation_identifier` is [`IDENTIFIER`], and its `data` points
//! to the entity. The matching `rmw_destroy_*` function frees both. *The contract of rmw*: the caller passes null, an
//! object of another implementation, or an object of this library that is not destroyed during the call.

pub use crate::argument::{IDENTIFIER, Output, argument, c_string, check_identifier, in_out, output, text};

use crate::entities::{Client, Context, GuardCondition, Node, Publisher, Service, Subscription, WaitSet};
use rmw_abi::{
    bindings::*,
    failure::{Failure, Result},
    in_layout,
};
use std::ffi::{c_char, c_void};

/// A C struct with an implementation identifier and a pointer to an entity.
pub trait Handle {
    /// The type of the entity behind the handle.
    type Entity;
    /// The name of this kind of object in error texts, such as "publisher".
    const NAME: &'static str;
    /// The implementation identifier, and the pointer to the entity.
    ///
    /// # Safety
    /// `handle` points to an object that exists.
    unsafe fn read(handle: *const Self) -> Result<(*const c_char, *const c_void)>;
}

macro_rules! handles {
    ($($handle:ident, $entity:ty, $name:literal;)*) => { $(
        impl Handle for $handle {
            type Entity = $entity;
            const NAME: &'static str = $name;
            unsafe fn read(handle: *const Self) -> Result<(*const c_char, *const c_void)> {
                // SAFETY: the promise of the caller.
                let handle = unsafe { &*handle };
                Ok((handle.implementation_identifier, handle.data.cast()))
            }
        }
    )* };
}

handles! {
    rmw_node_t, Node, "node";
    rmw_publisher_t, Publisher, "publisher";
    rmw_subscription_t, Subscription, "subscription";
    rmw_service_t, Service, "service";
    rmw_client_t, Client, "client";
    rmw_guard_condition_t, GuardCondition, "guard condition";
    rmw_wait_set_t, WaitSet, "wait set";
}

impl Handle for rmw_context_t {
    type Entity = Context;
    const NAME: &'static str = "context";
    unsafe fn read(handle: *const Self) -> Result<(*const c_char, *const c_void)> {
        unsafe fn read<L: Layout>(context: *const rmw_context_of<L>) -> Result<(*const c_char, *const c_void)> {
            // SAFETY: the promise of the caller.
            let context = unsafe { &*context };
            Ok((context.implementation_identifier, context.implementation.cast()))
        }
        // SAFETY: the promise of the caller.
        in_layout!(read(handle.cast()))
    }
}

/// Returns the entity behind a handle.
///
/// # Errors
/// The pointer is null, or its object is not initialized or belongs to another implementation.
///
/// # Safety
/// The caller keeps the contract of rmw (see above) as long as the result is used.
pub unsafe fn entity<'a, H: Handle>(handle: *const H) -> Result<&'a H::Entity> {
    if handle.is_null() {
        return Err(Failure::null(H::NAME));
    }
    // SAFETY: by the contract of rmw, `handle` points to an object that exists.
    let (identifier, data) = unsafe { H::read(handle) }?;
    // SAFETY: as above.
    unsafe { check_identifier(H::NAME, identifier) }?;
    // SAFETY: the `data` of this library's objects is null or points to the entity.
    let entity = unsafe { data.cast::<H::Entity>().as_ref() };
    entity.ok_or_else(|| Failure::invalid(format_args!("the {} is not initialized", H::NAME)))
}

/// Frees a handle and its entity.
///
/// # Safety
/// `entity` accepted `handle`: the handle and its `data` are boxes. The program uses neither of them after this call.
pub unsafe fn free<H: Handle>(handle: *mut H) {
    // SAFETY: the promise of the caller.
    if let Ok((_, entity)) = unsafe { H::read(handle) } {
        // SAFETY: as above.
        drop(unsafe { Box::from_raw(entity.cast_mut().cast::<H::Entity>()) });
    }
    // SAFETY: as above.
    drop(unsafe { Box::from_raw(handle) });
}
