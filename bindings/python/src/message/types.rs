//! Message types as objects for Python's message classes.

use super::{
    encode,
    holder::Holder,
    schema::{Base, Schema, python_value, type_string},
    view::View,
};
use crate::error::failed;
use gantry::TypeDescription;
use gantry_dynamic::Yaml;
use gantry_idl::{Count, Definitions, TypeName};
use pyo3::{
    IntoPyObjectExt,
    prelude::*,
    types::{PyBytes, PyList},
};
use std::{
    path::PathBuf,
    sync::{Arc, OnceLock},
};

/// A message type.
#[pyclass(frozen, module = "gantry._native", name = "Schema")]
pub struct PySchema(pub Arc<Schema>);

/// The description of a field: its name, its type as in a `.msg` file, NumPy's code if it has numbers, the name of its
/// message type, whether it is a list, the length if it is an array, and its default.
type FieldInfo<'py> =
    (String, String, Option<&'static str>, Option<String>, bool, Option<u32>, Option<Bound<'py, PyAny>>);

#[pymethods]
impl PySchema {
    /// The name of the type, for example `sensor_msgs/msg/Image`.
    #[getter]
    fn name(&self) -> &str {
        &self.0.description.name
    }

    /// The type hash in ROS 2's notation.
    #[getter]
    fn rihs01(&self) -> String {
        let digits = self.0.description.hash.iter().map(|byte| format!("{byte:02x}"));
        format!("RIHS01_{}", digits.collect::<String>())
    }

    /// The definition, including all nested messages.
    #[getter]
    fn definition(&self) -> &str {
        &self.0.description.definition
    }

    /// The comment at the beginning of the definition.
    #[getter]
    fn comment(&self) -> PyResult<&str> {
        Ok(&self.0.definition()?.comment)
    }

    fn fields<'py>(&self, py: Python<'py>) -> PyResult<Vec<FieldInfo<'py>>> {
        let info = |field: &super::schema::PlannedField| {
            let (code, nested) = match &field.base {
                Base::Number(primitive) => (Some(type_string(*primitive)), None),
                Base::Text(_) | Base::WideText(_) => (None, None),
                Base::Message(structure) => (None, Some(structure.name.clone())),
            };
            let length = if let Count::Array(length) = field.count { Some(length) } else { None };
            let default = field.default.as_ref().map(|default| python_value(py, default)).transpose()?;
            let is_list = field.count != Count::One;
            Ok((field.name.clone(), field.type_text.clone(), code, nested, is_list, length, default))
        };
        self.0.plan.fields.iter().map(info).collect()
    }

    fn constants<'py>(&self, py: Python<'py>) -> PyResult<Vec<(String, Bound<'py, PyAny>)>> {
        let constants = self.0.definition()?.constants.iter();
        constants.map(|constant| Ok((constant.name.clone(), python_value(py, &constant.value)?))).collect()
    }

    fn nested(&self, py: Python<'_>, name: &str) -> PyResult<PySchema> {
        self.0.nested(py, name).map(|schema| PySchema(Arc::new(schema)))
    }

    /// Encodes a message: CDR in little endian without an encapsulation header.
    fn encode<'py>(&self, py: Python<'py>, message: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyBytes>> {
        encode::encode(&self.0, message, false)?.to_bytes(py)
    }

    /// Encodes a message from YAML.
    fn encode_yaml<'py>(&self, py: Python<'py>, values: &str) -> PyResult<Bound<'py, PyBytes>> {
        Ok(PyBytes::new(py, &self.0.types.encode_yaml(values).map_err(failed)?))
    }

    /// Copies the bytes, which begin with an encapsulation header, and returns a view of the copy.
    fn view_cdr(&self, bytes: &[u8]) -> PyResult<View> {
        let (order, body) = gantry_cdr::split_encapsulation(bytes).map_err(failed)?;
        let mut body = body.to_vec();
        if order == gantry_cdr::ByteOrder::BigEndian {
            self.0.types.to_little_endian(&mut body).map_err(failed)?;
        }
        self.view(body)
    }

    /// The YAML of a message in the format of `ros2 topic echo --full-length`.
    fn yaml(&self, body: &[u8]) -> PyResult<String> {
        let view = self.0.types.view(body, gantry_cdr::ByteOrder::LittleEndian).map_err(failed)?;
        let mut text = String::new();
        Yaml::FULL_LENGTH.write(&view, &mut text).map_err(failed)?;
        Ok(text)
    }

    /// A view of a message's bytes without an encapsulation header.
    fn view(&self, body: Vec<u8>) -> PyResult<View> {
        View::new(Holder::Bytes(body), self.0.clone())
            .map_err(|(_, why)| failed(format!("the bytes are not a valid {}: {why}", self.0.description.name)))
    }
}

/// The standard types of Gantry, by name.
fn standard() -> &'static std::collections::BTreeMap<String, TypeDescription> {
    static TYPES: OnceLock<std::collections::BTreeMap<String, TypeDescription>> = OnceLock::new();
    TYPES.get_or_init(gantry::standard_types)
}

/// The names of the standard types. A service has two names, one for its requests and one for its responses.
#[pyfunction]
pub fn standard_names(py: Python<'_>) -> PyResult<Bound<'_, PyAny>> {
    PyList::new(py, standard().keys())?.into_bound_py_any(py)
}

/// The standard type `name`; `None` if there is none.
#[pyfunction]
pub fn standard_schema(py: Python<'_>, name: &str) -> PyResult<Option<PySchema>> {
    let description = standard().get(name).cloned();
    description.map(|known| Schema::from_description(py, known).map(|schema| PySchema(Arc::new(schema)))).transpose()
}

/// Loads the type `name` from a definition or from a folder of packages. Nested types may be standard types.
#[pyfunction]
#[pyo3(signature = (name, folder=None, definition=None))]
pub fn load_schema(
    py: Python<'_>,
    name: &str,
    folder: Option<PathBuf>,
    definition: Option<&str>,
) -> PyResult<PySchema> {
    let name: TypeName = name.parse().map_err(failed)?;
    let definitions = match (folder, definition) {
        (Some(folder), _) => standard_definitions()?.with_packages(&[folder]).map_err(failed)?,
        (None, definition) => Definitions::from_text(&name, definition.unwrap_or_default()).map_err(failed)?,
    };
    Schema::new(py, Arc::new(definitions), name).map(|schema| PySchema(Arc::new(schema)))
}

fn standard_definitions() -> PyResult<Definitions> {
    let names: Vec<(TypeName, &str)> = standard()
        .values()
        .filter_map(|description| Some((description.name.parse().ok()?, &*description.definition)))
        .collect();
    Definitions::from_texts(names.iter().map(|(name, text)| (name, *text))).map_err(failed)
}
