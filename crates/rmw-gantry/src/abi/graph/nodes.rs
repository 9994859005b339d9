//! The nodes of the domain.

use crate::{
    abi::context,
    allocator::Allocator,
    failure::run,
    handle::{entity, in_out},
};
use rmw_abi::{
    bindings::*,
    failure::{Failure, Result},
};

/// Fills in all of the arrays or, after a failure, none of them. Their memory comes from the allocator of the node's
/// context.
///
/// # Safety
/// Each pointer is null, or valid as the contract of rmw requires (`crate::handle`).
unsafe fn list<const N: usize>(
    node: *const rmw_node_t,
    arrays: [(&str, *mut rcutils_string_array_t); N],
    columns: impl FnOnce(&gantry::Node) -> gantry::Result<[Vec<String>; N]>,
) -> Result<()> {
    // SAFETY: the promise of the caller.
    let own = unsafe { entity(node) }?;
    for (name, array) in arrays {
        // SAFETY: as above.
        let array = unsafe { in_out(name, array) }?;
        if array.size != 0 || !array.data.is_null() {
            return Err(Failure::invalid(format_args!(
                "the argument {name} is not zero-initialized; rcutils_string_array_fini does that"
            )));
        }
    }
    // SAFETY: as above: `node` points to a node, whose context lives as long as the node.
    let allocator = unsafe { allocator_of(node) }?;
    let mut made = Vec::with_capacity(N);
    for column in columns(&own.library)? {
        match allocator.string_array(&column) {
            Ok(array) => made.push(array),
            Err(failure) => {
                // SAFETY: this function made the arrays, and the program has no pointer to them yet.
                made.iter().for_each(|array| unsafe { allocator.free_string_array(array) });
                return Err(failure);
            }
        }
    }
    for ((_, target), array) in arrays.into_iter().zip(made) {
        // SAFETY: as above; the pointer was checked and is not null.
        unsafe { target.write(array) };
    }
    Ok(())
}

/// # Safety
/// `node` points to a node of this implementation.
unsafe fn allocator_of(node: *const rmw_node_t) -> Result<Allocator> {
    // SAFETY: the promise of the caller.
    let context = unsafe { (*node).context };
    if context.is_null() {
        return Err(Failure::invalid("the node has no context"));
    }
    // SAFETY: the contract of rmw: the context of a node lives as long as the node.
    unsafe { context::allocator_of(context) }
}

/// Splits the full name of a node into namespace and name.
fn split(full_name: &str) -> (String, String) {
    let (namespace, name) = full_name.rsplit_once('/').unwrap_or(("", full_name));
    (if namespace.is_empty() { "/" } else { namespace }.to_owned(), name.to_owned())
}

/// # Safety
/// Each pointer is null, or valid as the contract of rmw requires (`crate::handle`).
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rmw_get_node_names(
    node: *const rmw_node_t,
    node_names: *mut rcutils_string_array_t,
    node_namespaces: *mut rcutils_string_array_t,
) -> rmw_ret_t {
    run(c"rmw_get_node_names", || {
        let arrays = [("node_names", node_names), ("node_namespaces", node_namespaces)];
        let columns = |library: &gantry::Node| {
            let (namespaces, names) = library.node_names()?.iter().map(|name| split(name)).unzip();
            Ok([names, namespaces])
        };
        // SAFETY: the contract of rmw.
        unsafe { list(node, arrays, columns) }
    })
}

/// # Safety
/// Each pointer is null, or valid as the contract of rmw requires (`crate::handle`).
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rmw_get_node_names_with_enclaves(
    node: *const rmw_node_t,
    node_names: *mut rcutils_string_array_t,
    node_namespaces: *mut rcutils_string_array_t,
    enclaves: *mut rcutils_string_array_t,
) -> rmw_ret_t {
    run(c"rmw_get_node_names_with_enclaves", || {
        let arrays = [("node_names", node_names), ("node_namespaces", node_namespaces), ("enclaves", enclaves)];
        let columns = |library: &gantry::Node| {
            let (full_names, enclaves): (Vec<_>, Vec<_>) = library.node_names_and_enclaves()?.into_iter().unzip();
            let (namespaces, names) = full_names.iter().map(|name| split(name)).unzip();
            Ok([names, namespaces, enclaves])
        };
        // SAFETY: the contract of rmw.
        unsafe { list(node, arrays, columns) }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn full_names_are_split() {
        for (full_name, namespace, name) in [("/talker", "/", "talker"), ("/left/eye/camera", "/left/eye", "camera")] {
            assert_eq!(split(full_name), (namespace.to_owned(), name.to_owned()));
        }
    }
}
