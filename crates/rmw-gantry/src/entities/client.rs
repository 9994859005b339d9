//! Clients: they send requests and take responses.

use super::{context::Context, library::Close, node::Node, service::granted, source::Source, take_valid};
use crate::argument::c_string;
use gantry::{GenericClient, GenericResponse, Gid, Qos};
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

/// A client, which any thread may use. As in ROS 2, a request is lost if there is no server: rcl keeps track of pending
/// requests.
pub struct Client {
    pub source: Arc<Source<GenericClient>>,
    pub service_type: ServiceType,
    pub gid: Gid,
    /// The QoS that `gantry` granted.
    pub qos: Qos,
    /// The name of the service, as the program passed it.
    pub name: CString,
    pub context: Arc<Context>,
    taken: AtomicU64,
}

impl Client {
    /// # Errors
    /// The name is not a full name, the QoS has unknown policies, or `gantry` returns an error.
    pub fn new(node: &Node, service_type: ServiceType, name: &str, profile: &rmw_qos_profile_t) -> Result<Client> {
        let qos = granted(name, profile)?;
        let mut library = node.library.create_generic_client_with_qos(name, service_type.description(), qos)?;
        library.set_requires_server(false);
        let gid = library.gid();
        let source = Arc::new(Source::new(library));
        node.own(&source);
        let (name, context) = (c_string(name)?, node.context.clone());
        Ok(Client { source, service_type, gid, qos, name, context, taken: AtomicU64::new(0) })
    }

    /// Serialises a request directly into shared memory, sends it, and returns its sequence number. If a server does
    /// not take its requests and its history is full, the request is lost, as with a KEEP_LAST writer of DDS: an error
    /// would end programs of rclcpp and rclpy. The first lost request waits for the server before it is lost. The next
    /// ones do not wait, until a request can be sent again. The future of a lost request never completes.
    ///
    /// # Safety
    /// `request` is a request of the client's type, which no other thread writes during the call.
    pub unsafe fn send_request(&self, request: *const c_void) -> Result<u64> {
        // SAFETY: the promise of the caller.
        let size_bytes = unsafe { self.service_type.request.size_bytes(request) }?;
        self.source.library.with(|library| {
            let mut loan = library.loan_request(size_bytes)?;
            // SAFETY: as above.
            unsafe { self.service_type.request.write(request, loan.bytes_mut()) }?;
            Ok(match library.send_or_lose_request(loan).map_err(Failure::error)? {
                Some(id) => id.sequence,
                None => i64::MAX.cast_unsigned() - library.lost_requests(), // no sent request has this number
            })
        })
    }

    /// Takes the next response that `read` can deserialise. A response that `read` refuses is malformed and is lost.
    pub fn take_valid_response(
        &self,
        read: impl FnMut(&GenericResponse) -> Result<()>,
    ) -> Result<Option<GenericResponse>> {
        let library = &self.source.library;
        take_valid(
            || {
                let response = library.with(|library| Ok(library.take_response()?))?;
                self.taken.fetch_add(response.is_some().into(), Relaxed); // Relaxed: the count orders no other memory
                Ok(response)
            },
            read,
            |response, why| {
                library.with(|library| {
                    library.skip_malformed(response, why);
                    Ok(())
                })
            },
        )
    }

    /// The number of responses that arrived and cannot be taken any more: they were taken or dropped.
    pub fn gone(&self) -> u64 {
        let dropped = self.source.library.with(|library| Ok(library.dropped_responses()));
        self.taken.load(Relaxed).saturating_add(dropped.unwrap_or(0))
    }

    /// True if a server would receive a request now and could answer it.
    pub fn is_server_available(&self) -> Result<bool> {
        self.source.library.with(|library| Ok(library.service_is_ready()?))
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        self.source.end_callback(&self.context);
        self.source.close(); // explicit, because the listener's thread may still hold an `Arc` of the source
    }
}
