//! The encoder: it converts a Python object, a dictionary or the shape of a loan to the bytes of a message.
//!
//! The encoder leaves a hole for a large array of numbers instead of copying it into these bytes. The array is copied
//! only once, directly into the publisher's memory.

use super::{
    holder::Holder,
    memory, number,
    schema::{Base, PlannedField, Schema, Structure, python_value},
    values::{check_bound, check_keys, inside, length_of_shape, prepared, text},
};
use crate::error::failed;
use gantry_idl::{Count, Primitive};
use pyo3::{
    exceptions::{PyTypeError, PyValueError},
    prelude::*,
    sync::PyOnceLock,
    types::{PyBytes, PyDict, PyString},
};
use std::sync::Arc;

/// The largest size of an array that is copied into `Encoded`. A larger array leaves a hole.
const SMALL_BYTES: usize = 1024;

/// The bytes of a message without its holes.
pub struct Encoded {
    bytes: Vec<u8>,
    holes: Vec<Hole>,
    /// The total length of the holes so far.
    skipped: usize,
    is_loan: bool,
}

/// A hole in the bytes: the position of a large array in the message.
struct Hole {
    /// The number of bytes in `Encoded` before this hole.
    after: usize,
    /// The offset of the hole in the message.
    offset: usize,
    length_bytes: usize,
    primitive: Primitive,
    /// The array to be copied in; `None` if the user of the loan writes the array.
    source: Option<Py<PyAny>>,
}

/// The source of the values of a message.
enum Values<'a, 'py> {
    Defaults,
    Dictionary(&'a Bound<'py, PyDict>),
    Object(&'a Bound<'py, PyAny>),
}

/// Encodes `message`, a dictionary or a Python object with the type's attributes. For a loan, `message` is a shape: a
/// number or a tuple of numbers may replace an array or list, and gives its length.
pub fn encode(schema: &Schema, message: &Bound<'_, PyAny>, is_loan: bool) -> PyResult<Encoded> {
    let mut encoded = Encoded { bytes: Vec::new(), holes: Vec::new(), skipped: 0, is_loan };
    encoded.message(message.py(), &schema.plan, Some(message))?;
    Ok(encoded)
}

impl Encoded {
    /// The length of the message, including its holes.
    pub fn length_bytes(&self) -> usize {
        self.bytes.len() + self.skipped
    }

    /// The whole message with all arrays, as a Python `bytes` object.
    pub fn to_bytes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let mut whole = vec![0; self.length_bytes()];
        self.write_small(&mut whole);
        for hole in &self.holes {
            if let Some(source) = &hole.source {
                let source = source.bind(py).call_method0("tobytes")?;
                let bytes = source.cast::<PyBytes>()?.as_bytes();
                let target = whole.get_mut(hole.offset..hole.offset + hole.length_bytes);
                target.filter(|target| target.len() == bytes.len()).ok_or_else(changed)?.copy_from_slice(bytes);
            }
        }
        Ok(PyBytes::new(py, &whole))
    }

    /// Writes all bytes outside of the holes into `target`, which must have the length of the message.
    pub fn write_small(&self, target: &mut [u8]) {
        let (mut begin, mut offset) = (0, 0);
        let end =
            |length| Hole { after: length, offset: 0, length_bytes: 0, primitive: Primitive::Uint8, source: None };
        for hole in self.holes.iter().chain([&end(self.bytes.len())]) {
            let part = &self.bytes[begin..hole.after];
            target[offset..offset + part.len()].copy_from_slice(part);
            begin = hole.after;
            offset = hole.offset + hole.length_bytes;
        }
    }

    /// Copies the large arrays into their positions in a loan.
    pub fn fill(&self, py: Python<'_>, holder: &Arc<Holder>) -> PyResult<()> {
        static COPY: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
        let copy = COPY.import(py, "numpy", "copyto")?;
        for hole in &self.holes {
            let Some(source) = &hole.source else { continue };
            let range = hole.offset..hole.offset + hole.length_bytes;
            let array = memory::array(py, holder, holder.body()?, range, hole.primitive, "an array that is copied in")?;
            copy.call1((array, source))?;
        }
        Ok(())
    }

    /// Encodes a message or a nested message. The depth of the recursion is bounded by the nesting of definitions.
    fn message(&mut self, py: Python<'_>, structure: &Structure, value: Option<&Bound<'_, PyAny>>) -> PyResult<()> {
        let values = match value {
            None => Values::Defaults,
            Some(value) => match value.cast::<PyDict>() {
                Ok(dictionary) => {
                    check_keys(structure, dictionary)?;
                    Values::Dictionary(dictionary)
                }
                Err(_) => Values::Object(value),
            },
        };
        if structure.fields.is_empty() {
            self.bytes.push(0);
        }
        for field in &structure.fields {
            let given = match &values {
                Values::Defaults => None,
                Values::Dictionary(dictionary) => dictionary.get_item(field.attribute.bind(py))?,
                Values::Object(object) => Some(object.getattr(field.attribute.bind(py)).map_err(|error| {
                    let kind =
                        object.get_type().name().map_or_else(|_| "an object".to_owned(), |name| name.to_string());
                    let why = format!("a value of type {kind} is not a valid {}: {}", structure.name, error.value(py));
                    PyTypeError::new_err(why)
                })?),
            };
            let given = match (given, &field.default) {
                (None, Some(default)) => Some(python_value(py, default)?),
                (given, _) => given,
            };
            self.field(py, field, given.as_ref()).map_err(|error| inside(py, &field.name, error))?;
        }
        Ok(())
    }

    fn field(&mut self, py: Python<'_>, field: &PlannedField, value: Option<&Bound<'_, PyAny>>) -> PyResult<()> {
        match (&field.base, field.count) {
            (base, Count::One) => self.element(py, base, value),
            (Base::Number(primitive), _) => self.numbers(field, *primitive, value),
            (base, _) => {
                let length = match base {
                    Base::Message(_) => value.filter(|_| self.is_loan).and_then(length_of_shape).transpose()?,
                    _ => None,
                };
                let items: Vec<Bound<'_, PyAny>> = match value.filter(|_| length.is_none()) {
                    Some(value) if value.is_instance_of::<PyString>() => {
                        return Err(PyTypeError::new_err(format!(
                            "a str is not a list; the field is {}",
                            field.type_text
                        )));
                    }
                    Some(value) => value.try_iter()?.collect::<PyResult<_>>()?,
                    None => Vec::new(),
                };
                let count = self.count(field, length.unwrap_or(items.len()), value.is_some())?;
                for index in 0..count {
                    let written = self.element(py, base, items.get(index));
                    written.map_err(|error| inside(py, &format!("[{index}]"), error))?;
                }
                Ok(())
            }
        }
    }

    /// Writes the length of a sequence, and returns the number of its elements.
    fn count(&mut self, field: &PlannedField, given: usize, is_given: bool) -> PyResult<usize> {
        let refused =
            || PyValueError::new_err(format!("it has {given} elements, and the field is {}", field.type_text));
        match field.count {
            Count::One => Ok(1),
            Count::Array(length) if is_given && given != length as usize => Err(refused()),
            Count::Array(length) => Ok(length as usize),
            Count::Sequence { bound: Some(bound) } if given > bound as usize => Err(refused()),
            Count::Sequence { .. } => {
                self.number(u64::from(u32::try_from(given).map_err(|_| refused())?), 4);
                Ok(given)
            }
        }
    }

    fn numbers(
        &mut self,
        field: &PlannedField,
        primitive: Primitive,
        value: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<()> {
        let size_bytes = primitive.size_bytes();
        let shape = value.filter(|_| self.is_loan).and_then(length_of_shape);
        let (given, source) = match (shape, value) {
            (Some(length), _) => (length?, None),
            (None, None) => (0, None),
            (None, Some(value)) => {
                let source = prepared(value, primitive)?;
                (source.len()?, Some(source))
            }
        };
        let count = self.count(field, given, value.is_some())?;
        let length_bytes = count.checked_mul(size_bytes).filter(|bytes| *bytes < u32::MAX as usize);
        let length_bytes =
            length_bytes.ok_or_else(|| PyValueError::new_err(format!("{count} elements are too many")))?;
        if count > 0 {
            self.align(size_bytes);
        }
        match source {
            Some(source) if length_bytes <= SMALL_BYTES => {
                let bytes = source.call_method0("tobytes")?;
                let bytes = bytes.cast::<PyBytes>()?.as_bytes();
                if bytes.len() != length_bytes {
                    return Err(changed());
                }
                self.bytes.extend_from_slice(bytes);
            }
            // Zeros are written for a default value. They are also written for a short array in a loan, because a hole
            // would cost more.
            None if value.is_none() || length_bytes <= SMALL_BYTES => {
                self.bytes.resize(self.bytes.len() + length_bytes, 0);
            }
            source => {
                let (after, offset) = (self.bytes.len(), self.length_bytes());
                let source = source.map(Bound::unbind);
                self.holes.push(Hole { after, offset, length_bytes, primitive, source });
                self.skipped += length_bytes;
            }
        }
        Ok(())
    }

    fn element(&mut self, py: Python<'_>, base: &Base, value: Option<&Bound<'_, PyAny>>) -> PyResult<()> {
        match base {
            Base::Message(structure) => return self.message(py, structure, value),
            Base::Number(primitive) => {
                let bits = value.map_or(Ok(0), |value| number::bits(value, *primitive))?;
                self.number(bits, primitive.size_bytes());
            }
            Base::Text(bound) => {
                let text = text(value)?;
                check_bound(text.len(), *bound, "bytes")?;
                self.number(text.len() as u64 + 1, 4);
                self.bytes.extend_from_slice(text.as_bytes());
                self.bytes.push(0);
            }
            Base::WideText(bound) => {
                let units: Vec<u16> = text(value)?.encode_utf16().collect();
                check_bound(units.len(), *bound, "units")?;
                self.number(units.len() as u64, 4);
                units.into_iter().for_each(|unit| self.number(unit.into(), 4));
            }
        }
        Ok(())
    }

    /// Writes the low bytes of `bits` at an aligned offset.
    fn number(&mut self, bits: u64, size_bytes: usize) {
        self.align(size_bytes);
        self.bytes.extend_from_slice(&bits.to_le_bytes()[..size_bytes]);
    }

    fn align(&mut self, size_bytes: usize) {
        let padding = self.length_bytes().next_multiple_of(size_bytes) - self.length_bytes();
        self.bytes.resize(self.bytes.len() + padding, 0);
    }
}

fn changed() -> PyErr {
    failed("an array changed its length while it was copied; change it before or after the call")
}
