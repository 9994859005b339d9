//! The step from the pointers that C passes to the entities behind them.
//!
//! An `rmw_*_t` is a box of this library: its `implementation_identifier` is [`IDENTIFIER`] and its `data` points to
//! the entity, which the `rmw_destroy_*` function of its kind frees. *The contract of rmw* is that a caller passes
//! null, an object of another implementation, or one of this library that is not destroyed during the call.

pub use crate::argument::{IDENTIFIER, Output, argument, c_string, check_identifier, in_out, output, text};

use crate::{
    bindings::*,
    entities::{Client, Context, GuardCondition, Node, Publisher, Service, Subscription, WaitSet},
    failure::{Failure, Result},
};
use std::ffi::{c_char, c_void};

/// A C struct that has an implementation identifier and data.
pub trait Handle {
    /// The entity behind it.
    type Entity;
    /// Its name in a sentence, as "publisher".
    const NAME: &'static str;
    fn identifier(&self) -> *const c_char;
    fn data(&self) -> *const c_void;
}

macro_rules! handles {
    ($($handle:ident, $entity:ty, $name:literal, $data:ident;)*) => { $(
        impl Handle for $handle {
            type Entity = $entity;
            const NAME: &'static str = $name;
            fn identifier(&self) -> *const c_char {
                self.implementation_identifier
            }
            fn data(&self) -> *const c_void {
                self.$data.cast()
            }
        }
    )* };
}

handles! {
    rmw_context_t, Context, "context", implementation;
    rmw_node_t, Node, "node", data;
    rmw_publisher_t, Publisher, "publisher", data;
    rmw_subscription_t, Subscription, "subscription", data;
    rmw_service_t, Service, "service", data;
    rmw_client_t, Client, "client", data;
    rmw_guard_condition_t, GuardCondition, "guard condition", data;
    rmw_wait_set_t, WaitSet, "wait set", data;
}

/// The entity behind a handle.
///
/// # Errors
/// The pointer is null; the object is of another implementation, or it is not initialized.
///
/// # Safety
/// The contract of rmw, for as long as the result is used.
pub unsafe fn entity<'a, H: Handle>(handle: *const H) -> Result<&'a H::Entity> {
    // SAFETY: the contract of rmw: null or an object.
    let object = unsafe { handle.as_ref() }.ok_or_else(|| Failure::null(H::NAME))?;
    // SAFETY: as above.
    unsafe { check_identifier(H::NAME, object.identifier()) }?;
    // SAFETY: an object of this library has null or its entity as data.
    let entity = unsafe { object.data().cast::<H::Entity>().as_ref() };
    entity.ok_or_else(|| Failure::invalid(format_args!("the {} is not initialized", H::NAME)))
}

/// Frees a handle and its entity.
///
/// # Safety
/// The handle is a box, its data is a box of its entity (`entity` returned it), and the program does not use them after
/// this.
pub unsafe fn free<H: Handle>(handle: *mut H) {
    // SAFETY: the promise of the caller.
    let handle = unsafe { Box::from_raw(handle) };
    // SAFETY: as above.
    drop(unsafe { Box::from_raw(handle.data().cast_mut().cast::<H::Entity>()) });
}
