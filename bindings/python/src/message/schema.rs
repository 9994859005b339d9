//! A message type that is known only at run time: its definitions, the type for reading, and the plan for writing.

use crate::error::failed;
use gantry::TypeDescription;
use gantry_dynamic::MessageType;
use gantry_idl::{BaseType, Count, Definitions, Field, MessageDefinition, Primitive, TypeName, Value};
use pyo3::{IntoPyObjectExt, prelude::*, types::PyString};
use std::{collections::BTreeMap, sync::Arc};

/// A message type. All messages of one class share it.
pub struct Schema {
    /// The description that endpoints compare when they match.
    pub description: TypeDescription,
    /// The type that reads messages.
    pub types: MessageType,
    /// The plan by which the encoder writes messages.
    pub plan: Arc<Structure>,
    definitions: Arc<Definitions>,
    name: TypeName,
}

/// The fields of a message in order.
pub struct Structure {
    /// The name of the message, for example `std_msgs/msg/Header`.
    pub name: String,
    /// The fields.
    pub fields: Vec<PlannedField>,
}

/// A field with everything that the encoder needs.
pub struct PlannedField {
    /// The name of the attribute of the Python object.
    pub attribute: Py<PyString>,
    /// The name.
    pub name: String,
    /// The type as it is written in a `.msg` file.
    pub type_text: String,
    /// The type of the value or, in a list, of one element.
    pub base: Base,
    /// The number of values.
    pub count: Count,
    /// The default.
    pub default: Option<Value>,
}

/// The type of a value.
pub enum Base {
    /// A number or a boolean.
    Number(Primitive),
    /// A `string`.
    Text(Option<u32>),
    /// A `wstring`.
    WideText(Option<u32>),
    /// A message.
    Message(Arc<Structure>),
}

impl Schema {
    /// The type `name`, which `definitions` define.
    pub fn new(py: Python<'_>, definitions: Arc<Definitions>, name: TypeName) -> PyResult<Schema> {
        let types = MessageType::new(&definitions, &name).map_err(failed)?;
        let description = TypeDescription {
            name: name.to_string(),
            hash: definitions.hash(&name).unwrap_or_default(),
            definition: definitions.definition_text(&name).unwrap_or_default().into(),
            payload_bytes: definitions.max_size_bytes(&name).unwrap_or(usize::MAX),
        };
        let mut known = BTreeMap::new();
        for (message, _) in definitions.with_nested(&name).map_err(failed)? {
            let structure = Arc::new(Structure::new(py, message, &known));
            known.insert(message.name.clone(), structure);
        }
        let plan = known.remove(&name).ok_or_else(|| failed(format!("{name} is not among its definitions")))?;
        Ok(Schema { description, types, plan, definitions, name })
    }

    /// The type that another program describes. Its hash is copied, so that endpoints with this type match with the
    /// other program.
    pub fn from_description(py: Python<'_>, description: TypeDescription) -> PyResult<Schema> {
        let name: TypeName = description.name.parse().map_err(failed)?;
        let definitions = Definitions::from_text(&name, &description.definition).map_err(failed)?;
        Ok(Schema { description, ..Schema::new(py, Arc::new(definitions), name)? })
    }

    /// The type of a message that is nested in this one.
    pub fn nested(&self, py: Python<'_>, name: &str) -> PyResult<Schema> {
        Schema::new(py, self.definitions.clone(), name.parse().map_err(failed)?)
    }

    /// The definition of the message itself.
    pub fn definition(&self) -> PyResult<&MessageDefinition> {
        self.definitions.message(&self.name).ok_or_else(|| failed(format!("{} has no definition", self.name)))
    }
}

impl Structure {
    fn new(py: Python<'_>, message: &MessageDefinition, known: &BTreeMap<TypeName, Arc<Structure>>) -> Structure {
        let fields = message.fields.iter().filter_map(|field| PlannedField::new(py, field, known));
        Structure { name: message.name.to_string(), fields: fields.collect() }
    }
}

impl PlannedField {
    /// Plans the writing of a field. Returns `None` for a nested message whose type is not known; complete definitions
    /// have no such field.
    fn new(py: Python<'_>, field: &Field, known: &BTreeMap<TypeName, Arc<Structure>>) -> Option<PlannedField> {
        let base = match &field.field_type.base {
            BaseType::Primitive(primitive) => Base::Number(*primitive),
            BaseType::String { bound } => Base::Text(*bound),
            BaseType::WString { bound } => Base::WideText(*bound),
            BaseType::Message(name) => Base::Message(known.get(name)?.clone()),
        };
        Some(PlannedField {
            attribute: PyString::intern(py, &field.name).unbind(),
            name: field.name.clone(),
            type_text: field.field_type.to_string(),
            base,
            count: field.field_type.count,
            default: field.default.clone(),
        })
    }
}

/// The code of a number in NumPy's array interface: byte order, kind and size.
pub fn type_string(primitive: Primitive) -> &'static str {
    match primitive {
        Primitive::Bool => "|b1",
        Primitive::Byte | Primitive::Char | Primitive::Uint8 => "|u1",
        Primitive::Int8 => "|i1",
        Primitive::Uint16 => "<u2",
        Primitive::Int16 => "<i2",
        Primitive::Uint32 => "<u4",
        Primitive::Int32 => "<i4",
        Primitive::Uint64 => "<u8",
        Primitive::Int64 => "<i8",
        Primitive::Float32 => "<f4",
        Primitive::Float64 => "<f8",
    }
}

/// Converts a default value or a constant to a Python object.
pub fn python_value<'py>(py: Python<'py>, value: &Value) -> PyResult<Bound<'py, PyAny>> {
    match value {
        Value::Bool(value) => value.into_bound_py_any(py),
        Value::Integer(value) => value.into_bound_py_any(py),
        Value::Float(value) => value.into_bound_py_any(py),
        Value::Text(value) => value.into_bound_py_any(py),
        Value::List(values) => {
            let values: Vec<_> = values.iter().map(|value| python_value(py, value)).collect::<PyResult<_>>()?;
            values.into_bound_py_any(py)
        }
    }
}
