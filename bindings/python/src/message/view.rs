//! The view of a message in memory. A field is converted to a Python object only when it is read.

use super::{
    holder::{Body, Holder},
    memory, number,
    schema::Schema,
};
use crate::error::failed;
use gantry::SampleInfo;
use gantry_cdr::ByteOrder;
use gantry_dynamic::{DynamicMessage, List, Position, Value};
use gantry_idl::{BaseType, Count, Primitive};
use pyo3::{
    IntoPyObjectExt,
    exceptions::PyIndexError,
    prelude::*,
    types::{PyBytes, PyList},
};
use std::sync::Arc;

/// A view of a message, or of a message nested in it, in the memory of its holder.
#[pyclass(frozen, module = "gantry._native")]
pub struct View {
    /// The holder of the memory.
    pub holder: Arc<Holder>,
    /// The type of the outermost message.
    pub schema: Arc<Schema>,
    position: Position,
    /// Whether this is a view of the whole message and not of a nested message.
    is_whole: bool,
    /// The path of a nested message in a loan, for errors; empty for other messages.
    path: String,
}

/// The properties of a taken message: sequence number, publishing time (ns of CLOCK_MONOTONIC), publishing time (ns
/// since 1970), publisher's GID, length in bytes and, for a message of a service, the id of its request.
type Info = (u64, u64, u64, [u8; 16], usize, Option<([u8; 16], u64)>);

impl View {
    /// Creates the view of a whole message. Checks all bytes.
    ///
    /// # Errors
    /// The bytes are not a message of the type; the holder is returned with the error.
    pub fn new(holder: Holder, schema: Arc<Schema>) -> Result<View, (Holder, String)> {
        let position = match holder.body() {
            Ok(body) => {
                let view = schema.types.view(body.bytes(), ByteOrder::LittleEndian);
                view.map(|message| message.position()).map_err(|error| error.to_string())
            }
            Err(error) => Err(error.to_string()),
        };
        match position {
            Ok(position) => {
                let (holder, path) = (Arc::new(holder), String::new());
                Ok(View { holder, schema, position, is_whole: true, path })
            }
            Err(why) => Err((holder, why)),
        }
    }

    fn message<'a>(&'a self, body: &'a Body<'_>) -> PyResult<DynamicMessage<'a>> {
        let message = self.schema.types.view_at(body.bytes(), ByteOrder::LittleEndian, self.position);
        message.ok_or_else(changed)
    }

    fn at(&self, position: Position, path: String) -> View {
        View { holder: self.holder.clone(), schema: self.schema.clone(), position, is_whole: false, path }
    }

    /// The path of a field in a loan, for errors; empty for other messages, because only errors of loans contain it.
    fn path_of(&self, name: &str) -> String {
        match (&*self.holder, self.path.as_str()) {
            (Holder::Loan(_), "") => name.to_owned(),
            (Holder::Loan(_), path) => format!("{path}.{name}"),
            _ => String::new(),
        }
    }

    fn list<'py>(&self, py: Python<'py>, list: List<'_>, path: &str) -> PyResult<Bound<'py, PyAny>> {
        let mut items = Vec::with_capacity(list.len());
        for (index, value) in list.iter().enumerate() {
            let path = if path.is_empty() { String::new() } else { format!("{path}[{index}]") };
            items.push(self.value(py, value, path)?);
        }
        PyList::new(py, items)?.into_bound_py_any(py)
    }

    /// Converts a value that is not a list of numbers to a Python object.
    fn value<'py>(&self, py: Python<'py>, value: Value<'_>, path: String) -> PyResult<Bound<'py, PyAny>> {
        match value {
            Value::Bool(value) => value.into_bound_py_any(py),
            Value::Byte(value) | Value::Uint8(value) => value.into_bound_py_any(py),
            Value::Float32(value) => value.into_bound_py_any(py),
            Value::Float64(value) => value.into_bound_py_any(py),
            Value::Int8(value) => value.into_bound_py_any(py),
            Value::Int16(value) => value.into_bound_py_any(py),
            Value::Uint16(value) => value.into_bound_py_any(py),
            Value::Int32(value) => value.into_bound_py_any(py),
            Value::Uint32(value) => value.into_bound_py_any(py),
            Value::Int64(value) => value.into_bound_py_any(py),
            Value::Uint64(value) => value.into_bound_py_any(py),
            Value::Text(text) => text.into_bound_py_any(py),
            Value::WideText(text) => text.chars().collect::<String>().into_bound_py_any(py),
            Value::Message(message) => self.at(message.position(), path).into_bound_py_any(py),
            Value::List(list) => self.list(py, list, &path),
        }
    }
}

#[pymethods]
impl View {
    /// The field at `index`: a number, a text, an array of numbers, a view, or a list of these.
    pub fn get<'py>(&self, py: Python<'py>, index: usize) -> PyResult<Bound<'py, PyAny>> {
        let body = self.holder.body()?;
        let message = self.message(&body)?;
        let (field, value) = message.fields().nth(index).ok_or_else(|| no_field(index))?;
        let path = self.path_of(&field.name);
        if let (Value::List(list), BaseType::Primitive(primitive)) = (value, &field.field_type.base) {
            let elements = list.bytes().ok_or_else(changed)?;
            let start = elements.as_ptr().addr() - body.bytes().as_ptr().addr();
            let range = start..start + elements.len();
            let primitive = *primitive;
            return memory::array(py, &self.holder, body, range, primitive, &path);
        }
        self.value(py, value, path)
    }

    /// The bytes of a list of messages as one array of structs. Each message has `size_bytes` bytes and begins at a
    /// multiple of `alignment`.
    fn elements<'py>(
        &self,
        py: Python<'py>,
        index: usize,
        alignment: usize,
        size_bytes: usize,
    ) -> PyResult<Bound<'py, PyAny>> {
        let body = self.holder.body()?;
        let (field, value) = self.message(&body)?.fields().nth(index).ok_or_else(|| no_field(index))?;
        let path = self.path_of(&field.name);
        let Value::List(list) = value else { return Err(failed(format!("{} is not a list", field.name))) };
        let start = match list.iter().next() {
            Some(Value::Message(first)) => first.fields().offset().next_multiple_of(alignment.max(1)),
            _ => 0,
        };
        let end =
            list.len().checked_mul(size_bytes).and_then(|length| start.checked_add(length)).ok_or_else(changed)?;
        memory::array(py, &self.holder, body, start..end, Primitive::Uint8, &path)
    }

    /// Writes the field at `index` of a loan; the field must be a number.
    pub fn set(&self, index: usize, value: &Bound<'_, PyAny>) -> PyResult<()> {
        self.holder.as_loan()?;
        let (primitive, end) = {
            let body = self.holder.body()?;
            let mut fields = self.message(&body)?.fields();
            let (field, _) = fields.nth(index).ok_or_else(|| no_field(index))?;
            match (&field.field_type.base, field.field_type.count) {
                (BaseType::Primitive(primitive), Count::One) => (*primitive, fields.offset()),
                _ => return Err(failed(format!("{} is not a number that can be set", field.name))),
            }
        };
        let bytes = number::bits(value, primitive)?.to_le_bytes(); // Python code may run here, so nothing is locked
        if let Body::Loan(mut state) = self.holder.body()? {
            let size_bytes = primitive.size_bytes();
            let start = end.checked_sub(size_bytes).ok_or_else(changed)?;
            let target = state.bytes_mut().get_mut(start..end).ok_or_else(changed)?;
            target.copy_from_slice(&bytes[..size_bytes]);
        }
        Ok(())
    }

    /// Whether this is a view of the whole message and not of a nested message.
    #[getter]
    fn is_whole(&self) -> bool {
        self.is_whole
    }

    /// The number of fields.
    fn field_count(&self) -> PyResult<usize> {
        let body = self.holder.body()?;
        Ok(self.message(&body)?.definition().fields.len())
    }

    /// A copy of the whole message: CDR in little endian without an encapsulation header.
    fn body<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let body = self.holder.body()?;
        Ok(PyBytes::new(py, body.bytes()))
    }

    /// The properties of a taken message; `None` for other messages.
    fn info(&self) -> Option<Info> {
        let SampleInfo { sequence, source_time_ns, source_wall_time_ns, publisher_gid, length_bytes, request } =
            self.holder.info()?;
        let request = request.map(|request| (request.client_gid.0, request.sequence));
        Some((sequence, source_time_ns, source_wall_time_ns, publisher_gid.0, length_bytes, request))
    }

    /// Returns the slot of a loan without publishing it.
    fn give_back(&self) {
        if let Holder::Loan(loan) = &*self.holder {
            loan.give_back();
        }
    }
}

fn changed() -> PyErr {
    failed("the bytes of the message changed since they were checked; its publisher breaks the protocol")
}

fn no_field(index: usize) -> PyErr {
    PyIndexError::new_err(format!("the message has no field {index}"))
}
