//! Parameters of nodes.

use crate::{
    abi::{self, OK, Status},
    argument::{create, destroy, exclusive, options, shared, text},
    failure::{Failure, Result, run, run_for},
    node::Node,
    parameter_list::{Parameters, parameter, parameters},
    program::Context,
};
use gantry::{FloatingPointRange, IntegerRange, Parameter, ParameterCallbackHandle, ParameterDescriptor};
use std::ffi::{CStr, c_char, c_void};

/// `gantry_parameter_callback`.
pub struct ParameterCallback(Option<ParameterCallbackHandle>);

/// # Safety
/// H1 and H2.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gantry_node_declare_parameter(
    handle: *const Node,
    declared: *const abi::Parameter,
    parameter_options: *const abi::ParameterOptions,
    value: *mut *mut Parameters,
) -> Status {
    let make = || {
        // SAFETY: H1.
        let node = unsafe { shared("node", handle) }?;
        // SAFETY: H2.
        let Parameter { name, value } = unsafe { parameter("parameter", declared) }?;
        // SAFETY: H2.
        let descriptor = unsafe { descriptor(parameter_options) }?;
        let value = node.inner.declare_parameter_with_descriptor(&name, value, descriptor)?;
        // The thread starts after the declaration, because its executor warns of overrides without a declaration.
        node.serve_parameters()?;
        Ok(Parameters::new([Parameter { name, value }]))
    };
    if value.is_null() {
        return run(|| make().map(|_| OK));
    }
    // SAFETY: H2.
    unsafe { create("value", value, make) }
}

/// Converts the options of a declaration.
///
/// # Safety
/// H2.
unsafe fn descriptor(given: *const abi::ParameterOptions) -> Result<ParameterDescriptor> {
    let mut made = ParameterDescriptor::default();
    // SAFETY: H2.
    let Some(given) = (unsafe { options(given) })? else { return Ok(made) };
    if !given.description.is_null() {
        // SAFETY: H2.
        made.description = unsafe { text("options->description", given.description) }?.to_owned();
    }
    (made.read_only, made.dynamic_typing) = (given.is_read_only != 0, given.has_dynamic_typing != 0);
    if given.has_integer_range != 0 {
        let (from_value, to_value) = (given.integer_from, given.integer_to);
        made.integer_range.push(IntegerRange { from_value, to_value, step: given.integer_step });
    }
    if given.has_double_range != 0 {
        let (from_value, to_value) = (given.double_from, given.double_to);
        made.floating_point_range.push(FloatingPointRange { from_value, to_value, step: given.double_step });
    }
    Ok(made)
}

/// # Safety
/// H1 and H2.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gantry_node_undeclare_parameter(handle: *const Node, name: *const c_char) -> Status {
    run(|| {
        // SAFETY: H1.
        let node = unsafe { shared("node", handle) }?;
        // SAFETY: H2.
        node.inner.undeclare_parameter(unsafe { text("name", name) }?)?;
        Ok(OK)
    })
}

/// # Safety
/// H1 and H2.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gantry_node_has_parameter(handle: *const Node, name: *const c_char) -> bool {
    run_for(false, || {
        // SAFETY: H1.
        let node = unsafe { shared("node", handle) }?;
        // SAFETY: H2.
        Ok(node.inner.has_parameter(unsafe { text("name", name) }?))
    })
}

/// # Safety
/// H1 and H2.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gantry_node_get_parameter(
    handle: *const Node,
    name: *const c_char,
    value: *mut *mut Parameters,
) -> Status {
    let make = || {
        // SAFETY: H1.
        let node = unsafe { shared("node", handle) }?;
        // SAFETY: H2.
        let name = unsafe { text("name", name) }?.to_owned();
        let value = node.inner.get_parameter(&name)?;
        Ok(Parameters::new([Parameter { name, value }]))
    };
    // SAFETY: H2.
    unsafe { create("value", value, make) }
}

/// # Safety
/// H1 and H2.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gantry_node_get_parameters_by_prefix(
    handle: *const Node,
    prefix: *const c_char,
    values: *mut *mut Parameters,
) -> Status {
    let make = || {
        // SAFETY: H1.
        let node = unsafe { shared("node", handle) }?;
        // SAFETY: H2.
        let found = node.inner.get_parameters_by_prefix(unsafe { text("prefix", prefix) }?);
        Ok(Parameters::new(found.into_iter().map(|(name, value)| Parameter { name, value })))
    };
    // SAFETY: H2.
    unsafe { create("values", values, make) }
}

/// # Safety
/// H1 and H2.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gantry_node_set_parameters(
    handle: *const Node,
    array: *const abi::Parameter,
    count: usize,
) -> Status {
    run(|| {
        // SAFETY: H1.
        let node = unsafe { shared("node", handle) }?;
        // SAFETY: H2.
        let changes = unsafe { parameters("parameters", array, count) }?;
        node.inner.set_parameters_atomically(changes)?;
        node.serve_parameters()?;
        Ok(OK)
    })
}

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
    // The closure owns the context, so a failure before the closure runs frees it, too.
    let owned = Owned { context: Context::new(context), free };
    let make = move || {
        let function = function.ok_or_else(|| Failure::invalid("the argument function is NULL"))?;
        // SAFETY: H1.
        let node = unsafe { shared("node", handle) }?;
        let added = node.inner.add_on_set_parameters_callback(move |changes| {
            let list = Parameters::new(changes.iter().cloned());
            // SAFETY: H4; the list has the elements until the call ends.
            let refusal = unsafe { function(owned.context.pointer(), list.structs.as_ptr(), list.structs.len()) };
            if refusal.is_null() {
                return Ok(());
            }
            // SAFETY: H4: the function returns NULL or a string.
            Err(unsafe { CStr::from_ptr(refusal) }.to_string_lossy().into_owned())
        })?;
        Ok(ParameterCallback(Some(added)))
    };
    // SAFETY: H2.
    unsafe { create("callback", callback, make) }
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
