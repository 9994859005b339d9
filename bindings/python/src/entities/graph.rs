//! The graph of a node's domain: nodes, topics, services and their endpoints.

use super::{
    events::{self, Events},
    node::Node,
};
use crate::{
    error::failed,
    message::{schema::Schema, types::PySchema},
    qos, wait,
};
use gantry::TopicEndpointInfo;
use pyo3::{prelude::*, types::PyDict};
use std::sync::Arc;

/// The graph of a node's domain.
#[pyclass(frozen, module = "gantry._native")]
pub struct Graph(Py<Node>);

/// Names, each with the names of its types.
type NamesAndTypes = Vec<(String, Vec<String>)>;

#[pymethods]
impl Graph {
    #[new]
    fn new(node: Py<Node>) -> Graph {
        Graph(node)
    }

    fn node_names(&self, py: Python<'_>) -> PyResult<Vec<String>> {
        let node = self.0.get().node(py)?;
        py.detach(|| node.node_names()).map_err(failed)
    }

    fn topic_names_and_types(&self, py: Python<'_>) -> PyResult<NamesAndTypes> {
        let node = self.0.get().node(py)?;
        Ok(py.detach(|| node.topic_names_and_types()).map_err(failed)?.into_iter().collect())
    }

    fn service_names_and_types(&self, py: Python<'_>) -> PyResult<NamesAndTypes> {
        let node = self.0.get().node(py)?;
        Ok(py.detach(|| node.service_names_and_types()).map_err(failed)?.into_iter().collect())
    }

    fn count_publishers(&self, py: Python<'_>, topic: &str) -> PyResult<usize> {
        let node = self.0.get().node(py)?;
        py.detach(|| node.count_publishers(topic)).map_err(failed)
    }

    fn count_subscribers(&self, py: Python<'_>, topic: &str) -> PyResult<usize> {
        let node = self.0.get().node(py)?;
        py.detach(|| node.count_subscribers(topic)).map_err(failed)
    }

    fn publishers_info<'py>(&self, py: Python<'py>, topic: &str) -> PyResult<Vec<Bound<'py, PyDict>>> {
        let node = self.0.get().node(py)?;
        let publishers = py.detach(|| node.publishers_info_by_topic(topic)).map_err(failed)?;
        publishers.into_iter().map(|endpoint| endpoint_info(py, endpoint)).collect()
    }

    fn subscriptions_info<'py>(&self, py: Python<'py>, topic: &str) -> PyResult<Vec<Bound<'py, PyDict>>> {
        let node = self.0.get().node(py)?;
        let subscriptions = py.detach(|| node.subscriptions_info_by_topic(topic)).map_err(failed)?;
        subscriptions.into_iter().map(|endpoint| endpoint_info(py, endpoint)).collect()
    }

    /// One sentence for each pair of a publisher and a subscription of the topic: whether they match, or why not.
    fn explain(&self, py: Python<'_>, topic: &str) -> PyResult<Vec<String>> {
        let node = self.0.get().node(py)?;
        let connections = py.detach(|| node.explain(topic)).map_err(failed)?;
        Ok(connections.iter().map(ToString::to_string).collect())
    }

    /// The types that endpoints of the topic have.
    fn topic_schemas(&self, py: Python<'_>, topic: &str) -> PyResult<Vec<PySchema>> {
        let node = self.0.get().node(py)?;
        let types = py.detach(|| node.endpoint_types(topic)).map_err(failed)?;
        types.into_iter().map(|known| Ok(PySchema(Arc::new(Schema::from_description(py, known)?)))).collect()
    }

    /// The request and response types of a service, as its existing servers declare them.
    fn service_schemas(&self, py: Python<'_>, service: &str) -> PyResult<Vec<(String, PySchema, PySchema)>> {
        let node = self.0.get().node(py)?;
        let types = py.detach(|| node.service_types(service)).map_err(failed)?;
        let schema = |known| Ok::<_, PyErr>(PySchema(Arc::new(Schema::from_description(py, known)?)));
        types.into_iter().map(|known| Ok((known.name, schema(known.request)?, schema(known.response)?))).collect()
    }

    fn best_available_qos<'py>(
        &self,
        py: Python<'py>,
        topic: &str,
        profile: &Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, PyDict>> {
        let (node, asked) = (self.0.get().node(py)?, qos::from_python(profile)?);
        qos::to_python(py, py.detach(|| node.best_available_qos(topic, asked)).map_err(failed)?)
    }

    #[pyo3(signature = (timeout=None))]
    fn wait_for_graph_change(&self, py: Python<'_>, timeout: Option<f64>) -> PyResult<bool> {
        let node = self.0.get().node(py)?;
        wait::in_slices(py, timeout, |slice| node.wait_for_graph_change(slice))
    }

    fn graph_changes(&self, py: Python<'_>) -> PyResult<Events> {
        Ok(events::from_graph(self.0.get().node(py)?.graph_changes().map_err(failed)?))
    }
}

fn endpoint_info<'py>(py: Python<'py>, endpoint: TopicEndpointInfo) -> PyResult<Bound<'py, PyDict>> {
    let fields = PyDict::new(py);
    fields.set_item("topic_type_hash", endpoint.rihs01())?;
    fields.set_item("node_name", endpoint.node_name)?;
    fields.set_item("node_namespace", endpoint.node_namespace)?;
    fields.set_item("topic_type", endpoint.topic_type)?;
    fields.set_item("endpoint_gid", endpoint.endpoint_gid.0)?;
    fields.set_item("process", endpoint.process)?;
    fields.set_item("rmw_implementation", endpoint.rmw_implementation)?;
    fields.set_item("copied_messages", endpoint.copied_messages)?;
    fields.set_item("qos_profile", qos::to_python(py, endpoint.qos_profile)?)?;
    Ok(fields)
}
