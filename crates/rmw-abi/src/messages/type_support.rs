//! Finds the introspection type support, which describes the structure of a type, for the type support that a program
//! passes.

use super::text::Language;
use crate::{
    bindings::*,
    failure::{Failure, Result},
    foreign,
};
use std::ffi::{CStr, c_char};

const INTROSPECTION: [(&CStr, Language); 2] =
    [(c"rosidl_typesupport_introspection_c", Language::C), (c"rosidl_typesupport_introspection_cpp", Language::Cpp)];

/// Returns the introspection type support of a message type, and its language.
///
/// # Safety
/// `handle` is null, or points to a valid type support.
pub(super) unsafe fn find_message(
    handle: *const rosidl_message_type_support_t,
) -> Result<(*const rosidl_message_type_support_t, Language)> {
    // SAFETY: the promise of the caller.
    let Some(support) = (unsafe { handle.as_ref() }) else {
        return Err(Failure::null("type_support"));
    };
    let find = |identifier| {
        // SAFETY: the type support is valid, so its `func` may be called with it.
        support.func.map_or(std::ptr::null(), |find| unsafe { find(handle, identifier) })
    };
    // SAFETY: the type support is valid, so its identifier is null or a string.
    introspection(find).ok_or_else(|| unsafe { absent("message", support.typesupport_identifier) })
}

/// Does the same as [`find_message`] for a service type.
///
/// # Safety
/// `handle` is null, or points to a valid type support.
pub(super) unsafe fn find_service(
    handle: *const rosidl_service_type_support_t,
) -> Result<(*const rosidl_service_type_support_t, Language)> {
    // SAFETY: the promise of the caller.
    let Some(support) = (unsafe { handle.as_ref() }) else {
        return Err(Failure::null("type_support"));
    };
    let find = |identifier| {
        // SAFETY: the type support is valid, so its `func` may be called with it.
        support.func.map_or(std::ptr::null(), |find| unsafe { find(handle, identifier) })
    };
    // SAFETY: the type support is valid, so its identifier is null or a string.
    introspection(find).ok_or_else(|| unsafe { absent("service", support.typesupport_identifier) })
}

fn introspection<T>(find: impl Fn(*const c_char) -> *const T) -> Option<(*const T, Language)> {
    for (identifier, language) in INTROSPECTION {
        let found = find(identifier.as_ptr());
        if !found.is_null() {
            return Some((found, language));
        }
        // `find` sets ROS 2's error state if the type support is for the other language.
        foreign::reset_error_state();
    }
    None
}

/// # Safety
/// `identifier` is null, or a string that ends with 0.
unsafe fn absent(what: &str, identifier: *const c_char) -> Failure {
    let given = if identifier.is_null() {
        "no identifier".into()
    } else {
        // SAFETY: the promise of the caller; the identifier is not null.
        unsafe { CStr::from_ptr(identifier) }.to_string_lossy()
    };
    Failure::invalid(format_args!(
        "the type support of this {what} ({given}) has no introspection, which Gantry reads messages by; install or build the \
         package of the {what} with rosidl_typesupport_introspection_c and rosidl_typesupport_introspection_cpp"
    ))
}

/// Returns the RIHS01 hash of the type, or zeros if the type support has no hash.
///
/// # Safety
/// `handle` is a valid type support.
pub(super) unsafe fn hash(handle: *const rosidl_message_type_support_t) -> [u8; 32] {
    // SAFETY: the promise of the caller.
    let support = unsafe { &*handle };
    let Some(get) = support.get_type_hash_func else {
        return [0; 32];
    };
    // SAFETY: the promise of the caller.
    let hash = unsafe { get(handle) };
    // SAFETY: the pointer is null, or points to the hash, which is a constant.
    match unsafe { hash.as_ref() } {
        Some(rosidl_type_hash_t { version: 1, value }) => *value,
        _ => [0; 32],
    }
}
