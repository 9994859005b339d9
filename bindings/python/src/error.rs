//! Errors as exceptions of Python, with their sentences.

use pyo3::{PyErr, create_exception, exceptions::PyRuntimeError};
use std::fmt::Display;

create_exception!(
    gantry,
    GantryError,
    PyRuntimeError,
    "An error of Gantry: a sentence with its values and what to do next."
);

/// The exception `gantry.GantryError` with the sentence of an error of Gantry's crates.
pub fn failed(error: impl Display) -> PyErr {
    GantryError::new_err(error.to_string())
}
