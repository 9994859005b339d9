//! Functions of C that a node calls when its parameters change.

use crate::{
    abi::{self, OK, Status},
    border::{
        argument::{create, destroy, exclusive, shared},
        failure::{Failure, run},
    },
    node::{
        Node,
        parameters::list::{Parameters, parameters},
    },
    program::Context,
};
use gantry::ParameterCallbackHandle;
use std::ffi::{CStr, c_char, c_void};

/// `gantry_parameter_callback`.
pub struct ParameterCallback(Option<ParameterCallbackHandle>);

/// The context of a C function, which is freed when the function is not called any more.
struct Owned {
    context: Context,
    free: Option<unsafe extern "C" fn(*mut c_void)>,
}

impl Drop for Owned {
    fn drop(&mut self) {
        if let Some(free) = self.free {
            // SAFETY: H4.
            unsafe { free(self.context.pointer()) }
        }
    }
}

/// Adds the closure that calls a function of C. The closure owns the context, so a failure frees the context, too.
///
/// # Safety
/// H1 and H2.
unsafe fn add<F>(
    handle: *const Node,
    function: Option<F>,
    callback: *mut *mut ParameterCallback,
    add: impl FnOnce(&gantry::Node, F) -> gantry::Result<ParameterCallbackHandle>,
) -> Status {
    let make = move || {
        let function = function.ok_or_else(|| Failure::invalid("the argument function is NULL"))?;
        // SAFETY: H1.
        let node = unsafe { shared("node", handle) }?;
        Ok(ParameterCallback(Some(add(&node.inner, function)?)))
    };
    // SAFETY: H2.
    unsafe { create("callback", callback, make) }
}

/// # Safety
/// H1, H2 and H4.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gantry_node_on_set_parameters(
    handle: *const Node,
    function: Option<unsafe extern "C" fn(*mut c_void, *const abi::Parameter, usize) -> *const c_char>,
    context: *mut c_void,
    free: Option<unsafe extern "C" fn(*mut c_void)>,
    callback: *mut *mut ParameterCallback,
) -> Status {
    let owned = Owned { context: Context::new(context), free };
    let added = move |node: &gantry::Node, function: unsafe extern "C" fn(_, _, _) -> _| {
        node.add_on_set_parameters_callback(move |changes| {
            let list = Parameters::new(changes.iter().cloned());
            // SAFETY: H4; the list has the elements until the call ends.
            let refusal: *const c_char =
                unsafe { function(owned.context.pointer(), list.structs.as_ptr(), list.structs.len()) };
            if refusal.is_null() {
                return Ok(());
            }
            // SAFETY: H4: the function returns NULL or a string.
            Err(unsafe { CStr::from_ptr(refusal) }.to_string_lossy().into_owned())
        })
    };
    // SAFETY: H1 and H2.
    unsafe { add(handle, function, callback, added) }
}

/// # Safety
/// H1, H2 and H4.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gantry_node_before_set_parameters(
    handle: *const Node,
    function: Option<unsafe extern "C" fn(*mut c_void, *mut *const abi::Parameter, *mut usize)>,
    context: *mut c_void,
    free: Option<unsafe extern "C" fn(*mut c_void)>,
    callback: *mut *mut ParameterCallback,
) -> Status {
    let owned = Owned { context: Context::new(context), free };
    let added = move |node: &gantry::Node,
                      function: unsafe extern "C" fn(_, *mut *const abi::Parameter, *mut usize)| {
        node.add_pre_set_parameters_callback(move |changes| {
            let list = Parameters::new(changes.iter().cloned());
            let (mut array, mut count) = (list.structs.as_ptr(), list.structs.len());
            // SAFETY: H4; the list has the elements until the call ends.
            unsafe { function(owned.context.pointer(), &raw mut array, &raw mut count) };
            // SAFETY: H4: the function leaves the array, or sets another array that is valid now.
            *changes = unsafe { parameters("*parameters", array, count) }.map_err(|failure| {
                let why = failure.into_sentence();
                format!("the function of gantry_node_before_set_parameters made a list that cannot be read: {why}")
            })?;
            Ok(())
        })
    };
    // SAFETY: H1 and H2.
    unsafe { add(handle, function, callback, added) }
}

/// # Safety
/// H1, H2 and H4.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gantry_node_after_set_parameters(
    handle: *const Node,
    function: Option<unsafe extern "C" fn(*mut c_void, *const abi::Parameter, usize)>,
    context: *mut c_void,
    free: Option<unsafe extern "C" fn(*mut c_void)>,
    callback: *mut *mut ParameterCallback,
) -> Status {
    let owned = Owned { context: Context::new(context), free };
    let added = move |node: &gantry::Node, function: unsafe extern "C" fn(_, _, _)| {
        node.add_post_set_parameters_callback(move |changes| {
            let list = Parameters::new(changes.iter().cloned());
            // SAFETY: H4; the list has the elements until the call ends.
            unsafe { function(owned.context.pointer(), list.structs.as_ptr(), list.structs.len()) };
        })
    };
    // SAFETY: H1 and H2.
    unsafe { add(handle, function, callback, added) }
}

/// # Safety
/// H1.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gantry_parameter_callback_destroy(callback: *mut ParameterCallback) {
    run(|| {
        if !callback.is_null() {
            // SAFETY: H1.
            if let Some(added) = unsafe { exclusive("callback", callback) }?.0.take() {
                added.remove();
            }
        }
        Ok(OK)
    });
    // SAFETY: H1.
    unsafe { destroy(callback) }
}
