//! Converts Gantry's errors to Python exceptions with the same text.

use pyo3::{PyErr, create_exception, exceptions::PyRuntimeError};
use std::fmt::Display;

create_exception!(
    gantry,
    GantryError,
    PyRuntimeError,
    "An error of Gantry: a sentence with its values and what to do next."
);

/// The exception `gantry.GantryError` with the text of an error of Gantry's crates.
pub fn failed(error: impl Display) -> PyErr {
    GantryError::new_err(error.to_string())
}
