//! Parameters of nodes.

pub(crate) mod callbacks;
pub(crate) mod list;
pub(crate) mod server;

use crate::{
    abi::{self, OK, Status},
    border::{
        argument::{create, output, shared, text, texts},
        failure::{Result, run, run_for},
        sized::{options, sized_output},
    },
    node::{
        Node,
        parameters::list::{Parameters, parameter, parameters},
    },
    values::lists::Strings,
};
use gantry::{FloatingPointRange, IntegerRange, Parameter, ParameterDescriptor};
use std::ffi::c_char;

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

/// # Safety
/// H1 and H2.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gantry_node_describe_parameter(
    handle: *const Node,
    name: *const c_char,
    value_type: *mut i32,
    described: *mut abi::ParameterOptions,
    description: *mut *mut Strings,
) -> Status {
    let make = || {
        // SAFETY: H1.
        let node = unsafe { shared("node", handle) }?;
        // SAFETY: H2.
        let found = node.inner.describe_parameter(unsafe { text("name", name) }?)?;
        // SAFETY: H2.
        let value_type = unsafe { output("value_type", value_type) }?;
        // SAFETY: H2.
        let target = unsafe { sized_output("options", described) }?;
        let texts = Strings::new([&found.description]);
        value_type.set(found.r#type.into());
        target.set(&described_options(&found, texts.first()));
        Ok(texts)
    };
    // SAFETY: H2.
    unsafe { create("description", description, make) }
}

/// The options by which a parameter was declared. `description` is the text of the descriptor.
fn described_options(found: &ParameterDescriptor, description: *const c_char) -> abi::ParameterOptions {
    let (integer, double) = (found.integer_range.first(), found.floating_point_range.first());
    abi::ParameterOptions {
        struct_size: size_of::<abi::ParameterOptions>(),
        description,
        is_read_only: found.read_only.into(),
        has_dynamic_typing: found.dynamic_typing.into(),
        has_integer_range: integer.is_some().into(),
        has_double_range: double.is_some().into(),
        reserved: [0; 4],
        integer_from: integer.map_or(0, |range| range.from_value),
        integer_to: integer.map_or(0, |range| range.to_value),
        integer_step: integer.map_or(0, |range| range.step),
        double_from: double.map_or(0.0, |range| range.from_value),
        double_to: double.map_or(0.0, |range| range.to_value),
        double_step: double.map_or(0.0, |range| range.step),
    }
}

/// # Safety
/// H1 and H2.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gantry_node_list_parameters(
    handle: *const Node,
    prefixes: *const *const c_char,
    prefix_count: usize,
    depth: u64,
    names: *mut *mut Strings,
) -> Status {
    let make = || {
        // SAFETY: H1.
        let node = unsafe { shared("node", handle) }?;
        // SAFETY: H2.
        let prefixes = unsafe { texts("prefixes", prefixes, prefix_count) }?;
        Ok(Strings::new(node.inner.list_parameters(&prefixes, depth).names))
    };
    // SAFETY: H2.
    unsafe { create("names", names, make) }
}
