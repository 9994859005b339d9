//! A service server on the network.

use super::{
    error::{RmwError, check, check_end, check_pointer},
    node::{Node, c_text},
    types::ServiceSupport,
    waiter::Handle,
};
use gantry::Qos;
use rmw_abi::{bindings::*, messages::Message, qos::qos_profile};
use std::{mem::zeroed, sync::Arc};

/// A server.
pub struct Server {
    node: Arc<Node>,
    server: *mut rmw_service_t,
    pub support: Arc<ServiceSupport>,
}

// SAFETY: the server is created and destroyed under the session's lock (R3). `rmw` allows a response on any thread, and
// only the waiter's thread takes requests.
unsafe impl Send for Server {}
// SAFETY: as above.
unsafe impl Sync for Server {}

/// The GID of the client that sent a request, and the sequence number of the request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RequestOrigin {
    writer: [u8; 16],
    sequence: i64,
}

impl Server {
    /// Creates a server of `node`.
    ///
    /// # Errors
    /// The RMW refuses it.
    pub fn new(
        node: &Arc<Node>,
        support: &Arc<ServiceSupport>,
        service: &str,
        qos: &Qos,
    ) -> Result<Arc<Server>, RmwError> {
        let functions = &node.session.library.functions;
        let (name, profile) = (c_text(service), qos_profile(qos));
        let _control = node.session.control();
        // SAFETY: the node lives, the type support stays loaded (R1), and the call is under the lock (R3).
        let made = unsafe { (functions.rmw_create_service)(node.as_ptr(), support.handle(), name.as_ptr(), &profile) };
        let server = check_pointer(functions, "rmw_create_service", made)?;
        Ok(Arc::new(Server { node: node.clone(), server, support: support.clone() }))
    }

    /// The server's pointer for the arrays of `rmw_wait`.
    pub fn handle(&self) -> Handle {
        // SAFETY: the server lives, and its fields do not change.
        Handle::Server(unsafe { (*self.server).data })
    }

    /// Takes a request into `request`, and returns its origin; `None` if no request has arrived.
    ///
    /// # Errors
    /// The RMW fails.
    pub fn take(&self, request: &mut Message) -> Result<Option<RequestOrigin>, RmwError> {
        let functions = &self.node.session.library.functions;
        // SAFETY: the struct has only integers and bytes, which may be zero.
        let mut info: rmw_service_info_t = unsafe { zeroed() };
        let mut is_taken = false;
        // SAFETY: the server lives, and the request is an initialised message of its type.
        let code = unsafe { (functions.rmw_take_request)(self.server, &mut info, request.as_ptr(), &mut is_taken) };
        check(functions, "rmw_take_request", code)?;
        let rmw_request_id_t { writer_guid: writer, sequence_number: sequence } = info.request_id;
        Ok(is_taken.then_some(RequestOrigin { writer, sequence }))
    }

    /// Answers a request.
    ///
    /// # Errors
    /// The RMW refuses the response.
    pub fn respond(&self, to: RequestOrigin, response: &Message) -> Result<(), RmwError> {
        let functions = &self.node.session.library.functions;
        let mut id = rmw_request_id_t { writer_guid: to.writer, sequence_number: to.sequence };
        // SAFETY: the server lives. It only reads the response, an initialised message of its type.
        let code = unsafe { (functions.rmw_send_response)(self.server, &mut id, response.as_ptr()) };
        check(functions, "rmw_send_response", code)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let session = &self.node.session;
        let functions = &session.library.functions;
        let _control = session.control();
        // SAFETY: the server lives, belongs to this node and is in no wait set (R4); the call is under the lock (R3).
        let code = unsafe { (functions.rmw_destroy_service)(self.node.as_ptr(), self.server) };
        check_end(functions, "rmw_destroy_service", code);
    }
}
