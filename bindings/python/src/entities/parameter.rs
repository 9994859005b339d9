//! Parameters: their values in Python, and the thread that runs a node's parameter services.
//!
//! Deadlock rule: no call waits for the lock of the node's parameters while it holds Python's lock (the GIL). A
//! callback on another thread may hold the lock of the parameters and wait for Python's lock.

use crate::error::failed;
use gantry::{Executor, Node, Parameter, ParameterValue, SingleThreadedExecutor, with_signals_blocked};
use pyo3::{
    IntoPyObjectExt,
    exceptions::PyTypeError,
    prelude::*,
    types::{PyBool, PyBytes, PyFloat, PyInt, PyList, PyString, PyTuple},
};
use std::thread::{self, JoinHandle};

/// The thread that runs the parameter services of a node. They answer even while a callback of the node runs.
pub struct Server {
    executor: gantry::ExecutorHandle,
    thread: Option<JoinHandle<()>>,
}

impl Server {
    /// Starts the thread.
    pub fn start(node: &Node) -> PyResult<Server> {
        let mut executor = SingleThreadedExecutor::new();
        executor.add_node(node).map_err(failed)?;
        let handle = executor.handle();
        let thread = thread::Builder::new().name("gantry-params".to_owned());
        // The result is ignored: a spin fails only in a forked child, and a child has no such thread.
        let spin = move || drop(executor.spin());
        let thread = with_signals_blocked(|| thread.spawn(spin)).map_err(failed)?;
        Ok(Server { executor: handle, thread: Some(thread) })
    }
}

impl Drop for Server {
    /// Ends the thread. The caller must not hold Python's lock, because a callback on the thread may wait for it.
    fn drop(&mut self) {
        self.executor.cancel();
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

/// Converts a Python value to a parameter value.
pub fn from_python(value: &Bound<'_, PyAny>) -> PyResult<ParameterValue> {
    if value.is_none() {
        return Ok(ParameterValue::NotSet);
    }
    if let Ok(value) = value.cast::<PyBool>() {
        return Ok(value.is_true().into());
    }
    if value.is_instance_of::<PyInt>() {
        return Ok(value.extract::<i64>()?.into());
    }
    if value.is_instance_of::<PyFloat>() {
        return Ok(value.extract::<f64>()?.into());
    }
    if value.is_instance_of::<PyString>() {
        return Ok(value.extract::<String>()?.into());
    }
    if let Ok(bytes) = value.cast::<PyBytes>() {
        return Ok(bytes.as_bytes().to_vec().into());
    }
    let list = if value.hasattr("tolist")? { value.call_method0("tolist")? } else { value.clone() };
    if list.is_instance_of::<PyList>() || list.is_instance_of::<PyTuple>() {
        return from_list(&list);
    }
    let kind = value.get_type().name()?;
    let sentence = format!(
        "a value of type {kind} cannot be the value of a parameter, which is a bool, an int, a float, a str, bytes or \
         a list of values of one of these types"
    );
    Err(PyTypeError::new_err(sentence))
}

fn from_list(list: &Bound<'_, PyAny>) -> PyResult<ParameterValue> {
    let items: Vec<Bound<'_, PyAny>> = list.try_iter()?.collect::<PyResult<_>>()?;
    let all = |is: fn(&Bound<'_, PyAny>) -> bool| items.iter().all(is);
    if all(|item| item.is_instance_of::<PyBool>()) && !items.is_empty() {
        return Ok(list.extract::<Vec<bool>>()?.into());
    }
    if all(|item| item.is_instance_of::<PyInt>()) && !items.is_empty() {
        return Ok(list.extract::<Vec<i64>>()?.into());
    }
    if all(|item| item.is_instance_of::<PyFloat>() || item.is_instance_of::<PyInt>()) && !items.is_empty() {
        return Ok(list.extract::<Vec<f64>>()?.into());
    }
    if all(|item| item.is_instance_of::<PyString>()) {
        return Ok(list.extract::<Vec<String>>()?.into());
    }
    Err(PyTypeError::new_err("the elements of a list in a parameter have one type: bool, int, float or str"))
}

/// Converts a parameter value to a Python value.
pub fn to_python(py: Python<'_>, value: ParameterValue) -> PyResult<Bound<'_, PyAny>> {
    match value {
        ParameterValue::NotSet => Ok(py.None().into_bound(py)),
        ParameterValue::Bool(value) => value.into_bound_py_any(py),
        ParameterValue::Integer(value) => value.into_bound_py_any(py),
        ParameterValue::Double(value) => value.into_bound_py_any(py),
        ParameterValue::String(value) => value.into_bound_py_any(py),
        ParameterValue::ByteArray(values) => PyBytes::new(py, &values).into_bound_py_any(py),
        ParameterValue::BoolArray(values) => values.into_bound_py_any(py),
        ParameterValue::IntegerArray(values) => values.into_bound_py_any(py),
        ParameterValue::DoubleArray(values) => values.into_bound_py_any(py),
        ParameterValue::StringArray(values) => values.into_bound_py_any(py),
    }
}

/// Asks a node's Python function whether a change of parameters is allowed. The function returns `None`, or the reason
/// why it refuses the change. The reason becomes the error.
pub fn ask(function: &Py<PyAny>, parameters: &[Parameter]) -> Result<(), String> {
    let asked = Python::try_attach(|py| -> PyResult<Option<String>> {
        let values = parameters
            .iter()
            .map(|parameter| Ok((parameter.name.clone(), to_python(py, parameter.value.clone())?.unbind())));
        let values: Vec<(String, Py<PyAny>)> = values.collect::<PyResult<_>>()?;
        function.call1(py, (values,))?.extract(py)
    });
    match asked {
        Some(Ok(None)) => Ok(()),
        Some(Ok(Some(why))) => Err(why),
        Some(Err(error)) => Err(format!("the callback of parameters failed: {error}")),
        None => Err("the interpreter ends".to_owned()),
    }
}
