//! Converts Python values for fields: texts, shapes and arrays. Errors contain the path of the field.

use super::schema::{Structure, type_string};
use gantry_idl::Primitive;
use pyo3::{
    exceptions::{PyOverflowError, PyTypeError, PyValueError},
    prelude::*,
    sync::PyOnceLock,
    types::{PyDict, PyInt, PyString, PyTuple},
};

/// The text of a `string` or `wstring` field; empty if there is no value.
pub fn text(value: Option<&Bound<'_, PyAny>>) -> PyResult<String> {
    let Some(value) = value else { return Ok(String::new()) };
    let text = value.cast::<PyString>().map_err(|_| {
        let kind = value.get_type().name().map_or_else(|_| "value".to_owned(), |name| name.to_string());
        PyTypeError::new_err(format!("a value of type {kind} is not a str"))
    })?;
    let text = text.to_cow()?.into_owned();
    match text.contains('\0') {
        true => Err(PyValueError::new_err(
            "the text contains the character 0 (NUL), which a string of ROS 2 cannot contain",
        )),
        false => Ok(text),
    }
}

/// Fails if a text is longer than its bound.
pub fn check_bound(length: usize, bound: Option<u32>, unit: &str) -> PyResult<()> {
    match bound {
        Some(bound) if length > bound as usize => {
            Err(PyValueError::new_err(format!("the text has {length} {unit}, and at most {bound} are allowed")))
        }
        _ => Ok(()),
    }
}

/// The length of an array in a loan that a number, or a tuple of numbers, specifies; `None` for other values.
pub fn length_of_shape(value: &Bound<'_, PyAny>) -> Option<PyResult<usize>> {
    if value.is_instance_of::<PyInt>() {
        return Some(value.extract());
    }
    let shape = value.cast::<PyTuple>().ok()?;
    let is_shape = !shape.is_empty() && shape.iter().all(|length| length.is_instance_of::<PyInt>());
    let too_long = || PyValueError::new_err("the shape has too many elements");
    is_shape
        .then(|| shape.iter().try_fold(1_usize, |all, length| all.checked_mul(length.extract()?).ok_or_else(too_long)))
}

/// Converts the value to an array of exactly this number type.
pub fn prepared<'py>(value: &Bound<'py, PyAny>, primitive: Primitive) -> PyResult<Bound<'py, PyAny>> {
    static PREPARE: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
    let prepare = PREPARE.import(value.py(), "gantry._arrays", "prepare")?;
    prepare.call1((value, type_string(primitive), primitive.name()))
}

/// Fails if a dictionary has a key that is not a field of the message.
pub fn check_keys(structure: &Structure, dictionary: &Bound<'_, PyDict>) -> PyResult<()> {
    for key in dictionary.keys() {
        let key: String = key.extract()?;
        if structure.fields.iter().all(|field| field.name != key) {
            let known: Vec<&str> = structure.fields.iter().map(|field| field.name.as_str()).collect();
            let sentence = format!("{} has no field `{key}`; it has {}", structure.name, known.join(", "));
            return Err(PyTypeError::new_err(sentence));
        }
    }
    Ok(())
}

/// Adds the name of the outer field to the front of the path in an error.
pub fn inside(py: Python<'_>, name: &str, error: PyErr) -> PyErr {
    let kind = error.get_type(py);
    let sentence = error.value(py).to_string();
    let path = match sentence.strip_prefix('`').and_then(|rest| rest.split_once("`: ")) {
        Some((path, rest)) if path.starts_with('[') => format!("`{name}{path}`: {rest}"),
        Some((path, rest)) => format!("`{name}.{path}`: {rest}"),
        None => format!("`{name}`: {sentence}"),
    };
    let is_ours = [py.get_type::<PyTypeError>(), py.get_type::<PyValueError>()].iter().any(|ours| kind.is(ours))
        || kind.is(py.get_type::<PyOverflowError>());
    if is_ours { PyErr::from_type(kind, path) } else { error }
}
