//! Converts Python numbers to the bits of a message.

use gantry_idl::Primitive;
use pyo3::{
    PyErr,
    exceptions::{PyOverflowError, PyTypeError},
    prelude::*,
    types::{PyBool, PyBytes},
};

/// The bits of `value` as a number of type `primitive`, in the low bytes.
///
/// # Errors
/// The value is not a number, or not in the range of the type.
pub fn bits(value: &Bound<'_, PyAny>, primitive: Primitive) -> PyResult<u64> {
    let wrong = |_: PyErr| {
        let shown = value.repr().map_or_else(|_| "a value".to_owned(), |text| text.to_string());
        let shown: String = shown.chars().take(60).collect();
        PyTypeError::new_err(format!("{shown} is not a valid {primitive}"))
    };
    match primitive {
        Primitive::Bool => {
            if let Ok(value) = value.cast::<PyBool>() {
                return Ok(value.is_true().into());
            }
            match value.extract::<i64>().or_else(|_| numpy_bool(value)) {
                Ok(value @ 0..=1) => Ok(value.cast_unsigned()),
                Ok(other) => Err(PyTypeError::new_err(format!("{other} is not a bool"))),
                Err(error) => Err(wrong(error)),
            }
        }
        #[expect(clippy::cast_possible_truncation, reason = "the field has this precision")]
        Primitive::Float32 => Ok((value.extract::<f64>().map_err(wrong)? as f32).to_bits().into()),
        Primitive::Float64 => Ok(value.extract::<f64>().map_err(wrong)?.to_bits()),
        integer => {
            if let (Primitive::Byte | Primitive::Char, Ok(bytes)) = (integer, value.cast::<PyBytes>())
                && let [byte] = bytes.as_bytes()
            {
                return Ok((*byte).into());
            }
            let number: i128 = value.extract().map_err(wrong)?;
            let (least, most) = integer.integer_range().unwrap_or_default();
            if !(least..=most).contains(&number) {
                let sentence = format!("{number} is out of the range of {integer}, {least} to {most}");
                return Err(PyOverflowError::new_err(sentence));
            }
            #[expect(
                clippy::cast_possible_truncation,
                clippy::cast_sign_loss,
                reason = "in range; the low bytes count"
            )]
            Ok(number as u64)
        }
    }
}

/// The value of a `numpy.bool`, which is neither a `bool` nor an `int`.
fn numpy_bool(value: &Bound<'_, PyAny>) -> PyResult<i64> {
    match value.getattr("dtype")?.getattr("kind")?.extract::<&str>()? {
        "b" => Ok(value.is_truthy()?.into()),
        kind => Err(PyTypeError::new_err(format!("an array of kind {kind} is not a bool"))),
    }
}
