//! From the pointers that C passes to the entities behind them.
//!
//! An `rmw_*_t` is a box of this library: its `implementation_identifier` is [`IDENTIFIER`] and its `data` points to
//! the entity, which the `rmw_destroy_*` function of its kind frees. *The contract of rmw* is that a caller passes
//! null, an object of another implementation, or one of this library that is not destroyed during the call.

use crate::{
    bindings::*,
    entities::{Client, Context, GuardCondition, Node, Publisher, Service, Subscription, WaitSet},
    failure::{Failure, Result},
};
use std::{
    ffi::{CStr, CString, c_char, c_void},
    mem::MaybeUninit,
};

/// The name of this implementation.
pub const IDENTIFIER: &CStr = c"rmw_gantry";

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

/// # Errors
/// An object of another implementation.
///
/// # Safety
/// The identifier is null or a string that ends with 0.
pub unsafe fn check_identifier(name: &str, identifier: *const c_char) -> Result<()> {
    if identifier == IDENTIFIER.as_ptr() {
        return Ok(());
    }
    if identifier.is_null() {
        return Err(Failure::invalid(format_args!(
            "the {name} is not initialized: it has no implementation identifier"
        )));
    }
    // SAFETY: the promise of the caller.
    let found = unsafe { CStr::from_ptr(identifier) };
    if found == IDENTIFIER {
        return Ok(()); // of another copy of this library's text
    }
    let sentence = format!(
        "the {name} is of the RMW implementation {}, not of rmw_gantry: all of a process must use one",
        found.to_string_lossy()
    );
    Err(Failure { code: RMW_RET_INCORRECT_RMW_IMPLEMENTATION, sentence })
}

/// A text argument.
///
/// # Errors
/// It is null or not UTF-8.
///
/// # Safety
/// Null or a string that ends with 0 and stays as long as the result is used.
pub unsafe fn text<'a>(argument: &str, text: *const c_char) -> Result<&'a str> {
    if text.is_null() {
        return Err(Failure::null(argument));
    }
    // SAFETY: the promise of the caller.
    let text = unsafe { CStr::from_ptr(text) };
    text.to_str().map_err(|_| Failure::invalid(format_args!("the argument {argument} is not UTF-8: {text:?}")))
}

/// An argument behind a pointer.
///
/// # Errors
/// It is null.
///
/// # Safety
/// Null or an initialized value that nobody writes as long as the result is used.
pub unsafe fn argument<'a, T>(name: &str, pointer: *const T) -> Result<&'a T> {
    // SAFETY: the promise of the caller.
    unsafe { pointer.as_ref() }.ok_or_else(|| Failure::null(name))
}

/// An argument that the function only writes: its memory may be uninitialized.
pub struct Output<'a, T>(&'a mut MaybeUninit<T>);

impl<T> Output<'_, T> {
    pub fn set(&mut self, value: T) {
        self.0.write(value);
    }
}

/// An argument that the function only writes.
///
/// # Errors
/// It is null.
///
/// # Safety
/// Null or memory for a value that nobody else uses as long as the result is used.
pub unsafe fn output<'a, T>(name: &str, pointer: *mut T) -> Result<Output<'a, T>> {
    // SAFETY: the promise of the caller; any bytes are a `MaybeUninit`.
    let memory = unsafe { pointer.cast::<MaybeUninit<T>>().as_mut() };
    memory.map(Output).ok_or_else(|| Failure::null(name))
}

/// An argument that the function reads and writes.
///
/// # Errors
/// It is null.
///
/// # Safety
/// Null or an initialized value that nobody else uses as long as the result is used.
pub unsafe fn in_out<'a, T>(name: &str, pointer: *mut T) -> Result<&'a mut T> {
    // SAFETY: the promise of the caller.
    unsafe { pointer.as_mut() }.ok_or_else(|| Failure::null(name))
}

/// Frees a handle and its entity.
///
/// # Safety
/// The handle is a box, its data is a box of its entity (`entity` returned it), and nobody uses either after this.
pub unsafe fn free<H: Handle>(handle: *mut H) {
    // SAFETY: the promise of the caller.
    let handle = unsafe { Box::from_raw(handle) };
    // SAFETY: as above.
    drop(unsafe { Box::from_raw(handle.data().cast_mut().cast::<H::Entity>()) });
}

/// A name as C wants it.
///
/// # Errors
/// A name with a 0 in it.
pub fn c_string(name: &str) -> Result<CString> {
    CString::new(name).map_err(|_| Failure::invalid(format_args!("the name {name:?} has a zero byte in it")))
}
