//! Servers and clients of services.

use crate::{
    error::failed,
    message::{encode, holder::Holder, schema::Schema, view::View},
    wait::{self, Handle},
};
use gantry::{Error, GenericClient, GenericService, Gid, RequestId, TakeSource};
use pyo3::prelude::*;
use std::{os::fd::AsRawFd, sync::Arc};

/// The server of a service.
#[pyclass(frozen, module = "gantry._native")]
pub struct Service {
    /// The server. An executor's waiter may attach it.
    pub inner: Handle<GenericService>,
    request: Arc<Schema>,
    response: Arc<Schema>,
    name: String,
}

/// A client of a service.
#[pyclass(frozen, module = "gantry._native")]
pub struct Client {
    /// The client. An executor's waiter may attach it.
    pub inner: Handle<GenericClient>,
    request: Arc<Schema>,
    response: Arc<Schema>,
    name: String,
    gid: Gid,
}

/// The id of a request: the client's GID and the request's sequence number.
type Id = ([u8; 16], u64);

/// The result of a request: the request's sequence number, and either the response or the reason why no response will
/// arrive.
type Outcome = (u64, Option<View>, Option<String>);

impl Service {
    pub fn new(service: GenericService, request: Arc<Schema>, response: Arc<Schema>) -> Service {
        let name = service.service_name().to_owned();
        Service { inner: Handle::new(service, "service"), request, response, name }
    }
}

impl Client {
    pub fn new(client: GenericClient, request: Arc<Schema>, response: Arc<Schema>) -> Client {
        let (name, gid) = (client.service_name().to_owned(), client.gid());
        Client { inner: Handle::new(client, "client"), request, response, name, gid }
    }

    fn outcome(&self, client: &mut GenericClient, taken: Result<gantry::GenericResponse, Error>) -> PyResult<Outcome> {
        match taken {
            Ok(response) => {
                let sequence = response.id().sequence;
                match View::new(Holder::Response(response), self.response.clone()) {
                    Ok(view) => Ok((sequence, Some(view), None)),
                    Err((Holder::Response(response), why)) => {
                        client.skip_malformed(&response, &why);
                        Ok((sequence, None, Some(format!("the response of {} is malformed: {why}", self.name))))
                    }
                    Err((_, why)) => Err(failed(why)),
                }
            }
            Err(error) => match &error {
                Error::ServerGone { sequence, .. } | Error::ResponseLost { sequence, .. } => {
                    Ok((*sequence, None, Some(error.to_string())))
                }
                _ => Err(failed(error)),
            },
        }
    }
}

#[pymethods]
impl Service {
    /// The next request and its id. A malformed request is counted and skipped.
    fn take(&self, py: Python<'_>) -> PyResult<Option<(View, Id)>> {
        let mut service = self.inner.lock(py);
        let service = service.get()?;
        while let Some(request) = service.take_request().map_err(failed)? {
            let RequestId { client_gid, sequence } = request.id();
            match View::new(Holder::Request(request), self.request.clone()) {
                Ok(view) => return Ok(Some((view, (client_gid.0, sequence)))),
                Err((Holder::Request(request), why)) => service.skip_malformed(&request, why),
                Err((_, why)) => return Err(failed(why)),
            }
        }
        Ok(None)
    }

    /// Answers a request. Does nothing if the client of the request no longer exists.
    fn respond(&self, py: Python<'_>, id: Id, response: &Bound<'_, PyAny>) -> PyResult<()> {
        let bytes = encode::encode(&self.response, response, false)?.to_bytes(py)?;
        let id = RequestId { client_gid: Gid(id.0), sequence: id.1 };
        self.inner.lock(py).get()?.send_response_copy(id, bytes.as_bytes()).map_err(failed)
    }

    #[pyo3(signature = (timeout=None))]
    fn wait(&self, py: Python<'_>, timeout: Option<f64>) -> PyResult<bool> {
        self.inner.lock(py).get()?;
        wait::in_slices(py, timeout, |slice| match self.inner.lock_detached().alive() {
            Some(service) => service.wait(slice),
            None => Ok(false),
        })
    }

    /// A file descriptor that is readable while there is a request to take.
    fn descriptor(&self, py: Python<'_>) -> PyResult<i32> {
        let mut service = self.inner.lock(py);
        Ok(service.get()?.descriptor().map_err(failed)?.as_raw_fd())
    }

    #[getter]
    fn name(&self) -> &str {
        &self.name
    }

    fn client_count(&self, py: Python<'_>) -> PyResult<usize> {
        self.inner.lock(py).get()?.client_count().map_err(failed)
    }

    fn lost_responses(&self, py: Python<'_>) -> PyResult<u64> {
        Ok(self.inner.lock(py).get()?.lost_responses())
    }

    fn destroy(&self, py: Python<'_>) {
        self.inner.destroy(py);
    }
}

#[pymethods]
impl Client {
    /// Sends a request and returns its sequence number.
    fn send(&self, py: Python<'_>, request: &Bound<'_, PyAny>) -> PyResult<u64> {
        let encoded = encode::encode(&self.request, request, false)?;
        let holder = {
            let mut client = self.inner.lock(py);
            let mut loan = client.get()?.loan_request(encoded.length_bytes()).map_err(failed)?;
            encoded.write_small(loan.bytes_mut());
            Arc::new(Holder::loan(loan))
        };
        encoded.fill(py, &holder)?;
        let loan = holder.as_loan()?.take(&self.name)?;
        let mut client = self.inner.lock(py);
        let client = client.get()?;
        // The call may wait for servers that are too slow, so Python's lock is released.
        Ok(py.detach(|| client.send_request(loan)).map_err(failed)?.sequence)
    }

    /// The next response, or the reason why a request will not be answered.
    fn take(&self, py: Python<'_>) -> PyResult<Option<Outcome>> {
        let mut client = self.inner.lock(py);
        let client = client.get()?;
        let taken = client.take_next().map_err(failed)?;
        taken.map(|taken| self.outcome(client, taken)).transpose()
    }

    /// Removes a pending request. Returns whether it was pending.
    fn forget(&self, py: Python<'_>, sequence: u64) -> PyResult<bool> {
        let id = RequestId { client_gid: self.gid, sequence };
        Ok(self.inner.lock(py).get()?.remove_pending_request(id))
    }

    #[pyo3(signature = (timeout=None))]
    fn wait(&self, py: Python<'_>, timeout: Option<f64>) -> PyResult<bool> {
        self.inner.lock(py).get()?;
        wait::in_slices(py, timeout, |slice| match self.inner.lock_detached().alive() {
            Some(client) => client.wait(slice),
            None => Ok(false),
        })
    }

    #[pyo3(signature = (timeout=None))]
    fn wait_for_service(&self, py: Python<'_>, timeout: Option<f64>) -> PyResult<bool> {
        self.inner.lock(py).get()?;
        wait::in_slices(py, timeout, |slice| match self.inner.lock_detached().alive() {
            Some(client) => client.wait_for_service(slice),
            None => Ok(false),
        })
    }

    /// A file descriptor that is readable while there is a response to take.
    fn descriptor(&self, py: Python<'_>) -> PyResult<i32> {
        let mut client = self.inner.lock(py);
        Ok(client.get()?.descriptor().map_err(failed)?.as_raw_fd())
    }

    #[getter]
    fn name(&self) -> &str {
        &self.name
    }

    fn service_is_ready(&self, py: Python<'_>) -> PyResult<bool> {
        self.inner.lock(py).get()?.service_is_ready().map_err(failed)
    }

    fn pending(&self, py: Python<'_>) -> PyResult<usize> {
        Ok(self.inner.lock(py).get()?.pending_requests())
    }

    fn destroy(&self, py: Python<'_>) {
        self.inner.destroy(py);
    }
}
