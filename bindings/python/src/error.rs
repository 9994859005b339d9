//! Errors as exceptions of Python, with their sentences.

use pyo3::{PyErr, create_exception, exceptions::PyRuntimeError};
use std::fmt::Display;

create_exception!(
    gantry,
    GantryError,
    PyRuntimeError,
    "An error of Gantry: a sentence with its values and what to do next."
);

/// An error of the crates below as the exception `gantry.GantryError`.
pub fn failed(error: impl Display) -> PyErr {
    GantryError::new_err(error.to_string())
}
