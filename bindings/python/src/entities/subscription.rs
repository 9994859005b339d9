//! Subscriptions: they take messages in shared memory, without copying.

use super::events::{self, Events};
use crate::{
    error::failed,
    message::{holder::Holder, schema::Schema, types::PySchema, view::View},
    wait::{self, Handle},
};
use gantry::GenericSubscription;
use pyo3::prelude::*;
use std::{os::fd::AsRawFd, sync::Arc};

/// A subscription.
#[pyclass(frozen, module = "gantry._native")]
pub struct Subscription {
    /// The subscription. An executor's waiter may attach it.
    pub inner: Handle<GenericSubscription>,
    schema: Arc<Schema>,
    topic: String,
    gid: [u8; 16],
}

/// The numbers of messages that were lost, overwritten, expired, malformed and received, in this order.
type Counts = (u64, u64, u64, u64, u64);

impl Subscription {
    pub fn new(subscription: GenericSubscription, schema: Arc<Schema>) -> Subscription {
        let (topic, gid) = (subscription.topic().to_owned(), subscription.gid().0);
        Subscription { inner: Handle::new(subscription, "subscription"), schema, topic, gid }
    }
}

#[pymethods]
impl Subscription {
    /// The next message; `None` if there is none. A sample whose bytes are no message of the type is counted and
    /// skipped.
    fn take(&self, py: Python<'_>) -> PyResult<Option<View>> {
        let mut subscription = self.inner.lock(py);
        let subscription = subscription.get()?;
        while let Some(sample) = subscription.take().map_err(failed)? {
            match View::new(Holder::Sample(sample), self.schema.clone()) {
                Ok(view) => return Ok(Some(view)),
                Err((Holder::Sample(sample), why)) => subscription.skip_malformed(&sample, why),
                Err((_, why)) => return Err(failed(why)),
            }
        }
        Ok(None)
    }

    /// Waits until there is a sample to take. Returns whether there is one.
    #[pyo3(signature = (timeout=None))]
    fn wait(&self, py: Python<'_>, timeout: Option<f64>) -> PyResult<bool> {
        self.inner.lock(py).get()?;
        wait::in_slices(py, timeout, |slice| match self.inner.lock_detached().alive() {
            Some(subscription) => subscription.wait(slice),
            None => Ok(false),
        })
    }

    #[pyo3(signature = (count, timeout=None))]
    fn wait_for_publishers(&self, py: Python<'_>, count: usize, timeout: Option<f64>) -> PyResult<bool> {
        self.inner.lock(py).get()?;
        wait::in_slices(py, timeout, |slice| match self.inner.lock_detached().alive() {
            Some(subscription) => subscription.wait_for_publishers(count, slice),
            None => Ok(false),
        })
    }

    /// A file descriptor that is readable while there is a sample to take. The subscription owns the descriptor.
    fn descriptor(&self, py: Python<'_>) -> PyResult<i32> {
        let mut subscription = self.inner.lock(py);
        Ok(subscription.get()?.descriptor().map_err(failed)?.as_raw_fd())
    }

    fn set_max_held_samples(&self, py: Python<'_>, limit: usize) -> PyResult<()> {
        self.inner.lock(py).get()?.set_max_held_samples(limit);
        Ok(())
    }

    #[getter]
    fn topic(&self) -> &str {
        &self.topic
    }

    #[getter]
    fn gid(&self) -> [u8; 16] {
        self.gid
    }

    fn counts(&self, py: Python<'_>) -> PyResult<Counts> {
        let mut subscription = self.inner.lock(py);
        let subscription = subscription.get()?;
        let received = subscription.received().map_err(failed)?;
        let (lost, overwritten) = (subscription.lost(), subscription.overwritten());
        Ok((lost, overwritten, subscription.expired(), subscription.malformed(), received))
    }

    fn publisher_count(&self, py: Python<'_>) -> PyResult<usize> {
        self.inner.lock(py).get()?.publisher_count().map_err(failed)
    }

    fn mismatches(&self, py: Python<'_>) -> PyResult<Vec<String>> {
        Ok(self.inner.lock(py).get()?.mismatches())
    }

    fn events(&self, py: Python<'_>) -> PyResult<Events> {
        let events = self.inner.lock(py).get()?.events().map_err(failed)?;
        Ok(events::from_subscription(events))
    }

    fn schema(&self) -> PySchema {
        PySchema(self.schema.clone())
    }

    fn destroy(&self, py: Python<'_>) {
        self.inner.destroy(py);
    }
}
