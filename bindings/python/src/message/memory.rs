//! The memory of an array. Only in this file does the address of a message leave Rust.
//!
//! NumPy reads the address through the array interface, and keeps the `Memory` object as the base of the array. SAFETY
//! of all arrays:
//! - The object owns a reference to the holder, and the holder keeps the bytes at their address: a sample by its pin, a
//!   loan by its slot, private bytes by their allocation, which never grows. Slices, memoryviews and tensors keep their
//!   array alive, and an array keeps its base alive. The bytes therefore outlive all of them.
//! - The array of a sample is read-only. NumPy does not let it become writable, because its base exports no writable
//!   buffer.
//! - The array of a loan is writable and has a token (`WritableArray`). A loan with a living token cannot be published.
//! - The interface is read once, when the array is created; the address does not change afterwards.

use super::holder::{Body, Holder, WritableArray};
use gantry_idl::Primitive;
use pyo3::{
    prelude::*,
    sync::PyOnceLock,
    types::{PyDict, PyTuple},
};
use std::{ops::Range, sync::Arc};

use super::schema::type_string;
use crate::error::failed;

/// The base object of an array, which keeps the array's memory alive.
#[pyclass(frozen, module = "gantry._native")]
pub struct Memory {
    address: usize,
    count: usize,
    type_string: &'static str,
    /// The token of a writable array; `None` for a read-only array.
    array: Option<Arc<WritableArray>>,
    /// The holder of the bytes. It is the last field, so it is dropped last.
    _holder: Arc<Holder>,
}

#[pymethods]
impl Memory {
    /// The array interface, version 3.
    #[getter]
    fn __array_interface__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let interface = PyDict::new(py);
        interface.set_item("version", 3)?;
        interface.set_item("shape", (self.count,))?;
        interface.set_item("typestr", self.type_string)?;
        interface.set_item("data", (self.address, self.array.is_none()))?;
        Ok(interface)
    }
}

/// The array of the numbers in `range` of the message. Errors about a loan name the array as `field`.
pub fn array<'py>(
    py: Python<'py>,
    holder: &Arc<Holder>,
    mut body: Body<'_>,
    range: Range<usize>,
    primitive: Primitive,
    field: &str,
) -> PyResult<Bound<'py, PyAny>> {
    let count = range.len() / primitive.size_bytes();
    let outside = || failed("an array lies outside of its message, whose bytes changed");
    let (address, array) = match &mut body {
        Body::Fixed(bytes) => (bytes.get(range).ok_or_else(outside)?.as_ptr().expose_provenance(), None),
        Body::Loan(state) => {
            let address = state.bytes_mut().get_mut(range).ok_or_else(outside)?.as_mut_ptr().expose_provenance();
            (address, Some(state.add_array(field)))
        }
    };
    drop(body); // the lock of the loan ends here, because Python code runs next
    let memory = Memory { address, count, type_string: type_string(primitive), array, _holder: holder.clone() };
    static AS_ARRAY: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
    let as_array = AS_ARRAY.import(py, "numpy", "asarray")?;
    as_array.call1(PyTuple::new(py, [Bound::new(py, memory)?])?)
}
