//! Descriptors for the Python classes of messages: they make the fields of a received message and of a loan accessible
//! as attributes.

use super::view::View;
use pyo3::{
    prelude::*,
    sync::PyOnceLock,
    types::{PyDict, PyList, PyString, PyType},
};

/// Creates objects of one message class. Each object has a view of the memory in which its message is.
#[pyclass(frozen, module = "gantry._native")]
pub struct Wrapper {
    new: Py<PyAny>,
    class: Py<PyType>,
    set_view: Py<PyAny>,
}

/// A field of a received message. A value that is not a single number is read once and then stored in the message
/// object.
#[pyclass(frozen, module = "gantry._native")]
pub struct SampleField {
    attribute: Attribute,
    name: Py<PyString>,
    is_kept: bool,
}

/// A field of a loan. Its value is read at each access and not stored, because a stored array on the loan would prevent
/// publishing.
#[pyclass(frozen, module = "gantry._native")]
pub struct LoanField {
    attribute: Attribute,
    is_number: bool,
    /// The Python function `assign(message, field, value)`, which sets a field that is not a single number.
    assign: Py<PyAny>,
}

/// The common part of both kinds of fields.
struct Attribute {
    /// The `Field` object of the Python package.
    field: Py<PyAny>,
    index: usize,
    is_nested: bool,
    /// The attribute of the nested message's class that holds the class's `Wrapper`. `wrapper` caches the value.
    wrapper_name: &'static str,
    wrapper: PyOnceLock<Py<Wrapper>>,
}

#[pymethods]
impl Wrapper {
    /// Creates the wrapper of a class, which must have a slot `_view`.
    #[new]
    fn new(class: &Bound<'_, PyType>) -> PyResult<Wrapper> {
        let new = class.py().import("builtins")?.getattr("object")?.getattr("__new__")?.unbind();
        let set_view = class.getattr("_view")?.getattr("__set__")?.unbind();
        Ok(Wrapper { new, class: class.clone().unbind(), set_view })
    }

    fn __call__<'py>(&self, view: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        let py = view.py();
        let message = self.new.bind(py).call1((&self.class,))?;
        self.set_view.bind(py).call1((&message, view))?;
        Ok(message)
    }
}

impl Attribute {
    fn new(field: &Bound<'_, PyAny>, wrapper_name: &'static str) -> PyResult<Attribute> {
        let index = field.getattr("index")?.extract()?;
        let is_nested = !field.getattr("nested")?.is_none();
        Ok(Attribute { field: field.clone().unbind(), index, is_nested, wrapper_name, wrapper: PyOnceLock::new() })
    }

    /// The value of this field in `message`.
    fn read<'py>(&self, message: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        let py = message.py();
        let value = view_of(message)?.get().get(py, self.index)?;
        if !self.is_nested {
            return Ok(value);
        }
        let wrapper = self.wrapper.get_or_try_init(py, || {
            let class = self.field.bind(py).getattr("message_class")?;
            Ok::<_, PyErr>(class.getattr(self.wrapper_name)?.cast_into::<Wrapper>()?.unbind())
        })?;
        let wrapper = wrapper.get();
        match value.cast::<PyList>() {
            Ok(views) => {
                let messages = views.iter().map(|view| wrapper.__call__(&view)).collect::<PyResult<Vec<_>>>()?;
                Ok(PyList::new(py, messages)?.into_any())
            }
            Err(_) => wrapper.__call__(&value),
        }
    }
}

fn view_of<'py>(message: &Bound<'py, PyAny>) -> PyResult<Bound<'py, View>> {
    Ok(message.getattr(pyo3::intern!(message.py(), "_view"))?.cast_into()?)
}

#[pymethods]
impl SampleField {
    #[new]
    fn new(field: &Bound<'_, PyAny>) -> PyResult<SampleField> {
        let attribute = Attribute::new(field, "_in_place")?;
        let is_list: bool = field.getattr("is_list")?.extract()?;
        let is_kept = is_list || attribute.is_nested || field.getattr("code")?.is_none();
        Ok(SampleField { attribute, name: field.getattr("name")?.extract()?, is_kept })
    }

    /// Reads the field. A stored value is in the message's dictionary. Python looks there first, because this
    /// descriptor has no `__set__`.
    fn __get__<'py>(
        slf: &Bound<'py, SampleField>,
        message: Option<&Bound<'py, PyAny>>,
        _class: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let Some(message) = message else { return Ok(slf.clone().into_any()) };
        let (py, field) = (slf.py(), slf.get());
        let value = field.attribute.read(message)?;
        if field.is_kept {
            message.getattr(pyo3::intern!(py, "__dict__"))?.cast::<PyDict>()?.set_item(&field.name, &value)?;
        }
        Ok(value)
    }
}

#[pymethods]
impl LoanField {
    #[new]
    fn new(field: &Bound<'_, PyAny>, assign: Py<PyAny>) -> PyResult<LoanField> {
        let is_list: bool = field.getattr("is_list")?.extract()?;
        let is_number = !is_list && !field.getattr("code")?.is_none();
        Ok(LoanField { attribute: Attribute::new(field, "_on_loan")?, is_number, assign })
    }

    fn __get__<'py>(
        slf: &Bound<'py, LoanField>,
        message: Option<&Bound<'py, PyAny>>,
        _class: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let Some(message) = message else { return Ok(slf.clone().into_any()) };
        slf.get().attribute.read(message)
    }

    fn __set__(&self, message: &Bound<'_, PyAny>, value: &Bound<'_, PyAny>) -> PyResult<()> {
        if self.is_number {
            return view_of(message)?.get().set(self.attribute.index, value);
        }
        self.assign.bind(message.py()).call1((message, &self.attribute.field, value)).map(drop)
    }
}
