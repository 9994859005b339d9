//! Services: they take requests and send responses.

use super::{context::Context, library::Close, node::Node, source::Source, take_valid};
use crate::{argument::c_string, names::check_full_name, qos::service_qos};
use gantry::{EngineError, Error, GenericRequest, GenericService, Qos, RequestId, SourceTime};
use rmw_abi::{
    bindings::rmw_qos_profile_t,
    failure::{Failure, Result},
    messages::ServiceType,
};
use std::{
    ffi::{CString, c_void},
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering::*},
    },
};

/// The largest history depth of services and clients. A larger depth in a profile is reduced to this value.
const MAX_DEPTH: u32 = 10_000;

/// A service, which any thread may use.
pub struct Service {
    pub source: Arc<Source<GenericService>>,
    pub service_type: ServiceType,
    /// The QoS that `gantry` granted.
    pub qos: Qos,
    /// The name of the service, as the program gave it.
    pub name: CString,
    pub context: Arc<Context>,
    taken: AtomicU64,
}

/// Returns the QoS that a service or a client with this full name gets.
pub(super) fn granted(name: &str, profile: &rmw_qos_profile_t) -> Result<Qos> {
    check_full_name("service", name)?;
    let qos = service_qos(profile)?;
    Ok(Qos { depth: qos.depth.min(MAX_DEPTH), ..qos })
}

impl Service {
    /// # Errors
    /// The name is not a full name, the QoS has unknown policies, or `gantry` returns an error.
    pub fn new(node: &Node, service_type: ServiceType, name: &str, profile: &rmw_qos_profile_t) -> Result<Service> {
        let qos = granted(name, profile)?;
        let library = node.library.create_generic_service_with_qos(name, service_type.description(), qos)?;
        let source = Arc::new(Source::new(library));
        node.own(&source);
        let (name, context) = (c_string(name)?, node.context.clone());
        Ok(Service { source, service_type, qos, name, context, taken: AtomicU64::new(0) })
    }

    /// Takes the next request that `read` can deserialise. A request that `read` refuses is malformed and gets no
    /// response.
    pub fn take_valid_request(
        &self,
        read: impl FnMut(&GenericRequest) -> Result<()>,
    ) -> Result<Option<GenericRequest>> {
        let library = &self.source.library;
        take_valid(
            || {
                let request = library.with(|library| Ok(library.take_request()?))?;
                self.taken.fetch_add(request.is_some().into(), Relaxed); // Relaxed: the count orders no other memory
                Ok(request)
            },
            read,
            |request, why| {
                library.with(|library| {
                    library.skip_malformed(request, why);
                    Ok(())
                })
            },
        )
    }

    /// The number of requests that arrived and cannot be taken any more.
    pub fn gone(&self) -> u64 {
        self.taken.load(Relaxed)
    }

    /// Sends the response to a request, serialised directly into memory that the client reads. The response is dropped
    /// if the client does not exist any more. It is also lost if shared memory is full or the client holds all memory
    /// for its responses: an error would end the server for all clients. Without a `time`, `gantry` reads the clock.
    ///
    /// # Safety
    /// `response` is a response of the service's type, which no other thread writes during the call.
    pub unsafe fn send_response(
        &self,
        request: RequestId,
        response: *const c_void,
        time: Option<SourceTime>,
    ) -> Result<()> {
        // SAFETY: the promise of the caller.
        let size_bytes = unsafe { self.service_type.response.size_bytes(response) }?;
        self.source.library.with(|library| {
            let mut loan = match library.loan_response(request, size_bytes) {
                Err(error) if is_full(&error) => {
                    library.lose_response(request);
                    return Ok(());
                }
                loan => loan?,
            };
            // SAFETY: as above.
            unsafe { self.service_type.response.write(response, loan.bytes_mut()) }?;
            let sent = match time {
                Some(time) => library.send_response_at(request, loan, time),
                None => library.send_response(request, loan),
            };
            match sent {
                Err(failure) if is_full(&failure.error) => library.lose_response(request),
                sent => sent.map_err(Failure::error)?,
            }
            Ok(())
        })
    }
}

/// True if the error means that there is no memory for a response now.
fn is_full(error: &Error) -> bool {
    use EngineError::{NoInode, NoRoom, OutOfMemory};
    matches!(error, Error::Engine(OutOfMemory { .. } | NoRoom { .. } | NoInode { .. }))
}

impl Drop for Service {
    fn drop(&mut self) {
        self.source.end_callback(&self.context);
        self.source.close(); // explicit, because the listener's thread may still hold an `Arc` of the source
    }
}
