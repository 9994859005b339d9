//! Publishers: they copy Python messages into shared memory, or publish loans.

use super::events::{self, Events};
use crate::{
    error::failed,
    message::{
        encode::{self, Encoded},
        holder::Holder,
        schema::Schema,
        types::PySchema,
        view::View,
    },
    wait::{self, Handle},
};
use gantry::GenericPublisher;
use pyo3::prelude::*;
use std::sync::Arc;

/// A publisher.
#[pyclass(frozen, module = "gantry._native")]
pub struct Publisher {
    inner: Handle<GenericPublisher>,
    schema: Arc<Schema>,
    topic: String,
    gid: [u8; 16],
    /// Whether publishing may wait for slow subscriptions.
    may_block: bool,
}

impl Publisher {
    pub fn new(publisher: GenericPublisher, schema: Arc<Schema>, may_block: bool) -> Publisher {
        let (topic, gid) = (publisher.topic().to_owned(), publisher.gid().0);
        Publisher { inner: Handle::new(publisher, "publisher"), schema, topic, gid, may_block }
    }

    fn loan_bytes(&self, py: Python<'_>, encoded: &Encoded) -> PyResult<Holder> {
        let mut publisher = self.inner.lock(py);
        let mut loan = publisher.get()?.loan(encoded.length_bytes()).map_err(failed)?;
        encoded.write_small(loan.bytes_mut());
        Ok(Holder::loan(loan))
    }

    fn publish_holder(&self, py: Python<'_>, holder: &Holder) -> PyResult<u64> {
        let loan = holder.as_loan()?;
        let taken = loan.take(&self.topic)?;
        let mut publisher = self.inner.lock(py);
        let publisher = publisher.get()?;
        let published = match self.may_block {
            true => py.detach(|| publisher.publish(taken)),
            false => publisher.publish(taken),
        };
        published.map_err(|error| {
            loan.put_back(error.loan);
            failed(error.error)
        })
    }
}

#[pymethods]
impl Publisher {
    /// Publishes a message by copying it into shared memory.
    fn publish(&self, py: Python<'_>, message: &Bound<'_, PyAny>) -> PyResult<u64> {
        let encoded = encode::encode(&self.schema, message, false)?;
        let holder = Arc::new(self.loan_bytes(py, &encoded)?);
        encoded.fill(py, &holder)?;
        self.publish_holder(py, &holder)
    }

    /// Publishes a copy of a message that already has the type's bytes, such as a received sample.
    fn publish_view(&self, py: Python<'_>, view: &View) -> PyResult<u64> {
        let mut publisher = self.inner.lock(py);
        let body = view.holder.body()?;
        publisher.get()?.publish_copy(body.bytes()).map_err(failed)
    }

    /// Creates a loan with the given shape (the lengths of its arrays and lists).
    fn loan(&self, py: Python<'_>, shape: &Bound<'_, PyAny>) -> PyResult<View> {
        let encoded = encode::encode(&self.schema, shape, true)?;
        let view = View::new(self.loan_bytes(py, &encoded)?, self.schema.clone());
        let view =
            view.map_err(|(_, why)| failed(format!("no message can be created from the shape of the loan: {why}")))?;
        encoded.fill(py, &view.holder)?;
        Ok(view)
    }

    /// Publishes a loan.
    fn publish_loan(&self, py: Python<'_>, loan: &View) -> PyResult<u64> {
        self.publish_holder(py, &loan.holder)
    }

    #[getter]
    fn topic(&self) -> &str {
        &self.topic
    }

    #[getter]
    fn gid(&self) -> [u8; 16] {
        self.gid
    }

    fn subscription_count(&self, py: Python<'_>) -> PyResult<usize> {
        self.inner.lock(py).get()?.subscription_count().map_err(failed)
    }

    fn memory_bytes(&self, py: Python<'_>) -> PyResult<usize> {
        Ok(self.inner.lock(py).get()?.memory_bytes())
    }

    fn assert_liveliness(&self, py: Python<'_>) -> PyResult<()> {
        self.inner.lock(py).get()?.assert_liveliness().map_err(failed)
    }

    fn mismatches(&self, py: Python<'_>) -> PyResult<Vec<String>> {
        self.inner.lock(py).get()?.mismatches().map_err(failed)
    }

    #[pyo3(signature = (count, timeout=None))]
    fn wait_for_subscriptions(&self, py: Python<'_>, count: usize, timeout: Option<f64>) -> PyResult<bool> {
        self.inner.lock(py).get()?;
        wait::in_slices(py, timeout, |slice| match self.inner.lock_detached().alive() {
            Some(publisher) => publisher.wait_for_subscriptions(count, slice),
            None => Ok(false),
        })
    }

    fn events(&self, py: Python<'_>) -> PyResult<Events> {
        let events = self.inner.lock(py).get()?.events().map_err(failed)?;
        Ok(events::from_publisher(events))
    }

    fn schema(&self) -> PySchema {
        PySchema(self.schema.clone())
    }

    fn destroy(&self, py: Python<'_>) {
        self.inner.destroy(py);
    }
}
