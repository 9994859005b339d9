//! A service client on the network.

use super::{
    error::{RmwError, check, check_end, check_pointer},
    node::{Node, c_text},
    types::ServiceSupport,
    waiter::Handle,
};
use gantry::Qos;
use rmw_abi::{bindings::*, messages::Message, qos::qos_profile};
use std::{mem::zeroed, sync::Arc};

/// A service client on the network.
pub struct Client {
    node: Arc<Node>,
    client: *mut rmw_client_t,
    pub support: Arc<ServiceSupport>,
}

// SAFETY: the client is created and destroyed under the session's lock (R3). `rmw` allows a send on any thread, and
// only the waiter's thread takes responses.
unsafe impl Send for Client {}
// SAFETY: as above.
unsafe impl Sync for Client {}

impl Client {
    /// Creates a client of `node`.
    ///
    /// # Errors
    /// The RMW refuses it.
    pub fn new(
        node: &Arc<Node>,
        support: &Arc<ServiceSupport>,
        service: &str,
        qos: &Qos,
    ) -> Result<Arc<Client>, RmwError> {
        let functions = &node.session.library.functions;
        let (name, profile) = (c_text(service), qos_profile(qos));
        let _control = node.session.control();
        // SAFETY: the node lives, the type support stays loaded (R1), and the call is under the lock (R3).
        let made = unsafe { (functions.rmw_create_client)(node.as_ptr(), support.handle(), name.as_ptr(), &profile) };
        let client = check_pointer(functions, "rmw_create_client", made)?;
        Ok(Arc::new(Client { node: node.clone(), client, support: support.clone() }))
    }

    /// The client's pointer for the arrays of `rmw_wait`.
    pub fn handle(&self) -> Handle {
        // SAFETY: the client lives, and its fields do not change.
        Handle::Client(unsafe { (*self.client).data })
    }

    /// True if the client is matched with a server, of this session or of another one.
    pub fn is_ready(&self) -> bool {
        let functions = &self.node.session.library.functions;
        let mut is_available = false;
        let _control = self.node.session.control();
        // SAFETY: the node and its client live, and the call is under the lock (R3).
        let code =
            unsafe { (functions.rmw_service_server_is_available)(self.node.as_ptr(), self.client, &mut is_available) };
        check(functions, "rmw_service_server_is_available", code).is_ok() && is_available
    }

    /// Sends a request, and returns its sequence number.
    ///
    /// # Errors
    /// The RMW refuses the request.
    pub fn send(&self, request: &Message) -> Result<i64, RmwError> {
        let functions = &self.node.session.library.functions;
        let mut sequence = 0;
        // SAFETY: the client lives, and the request is an initialised message of its type.
        let code = unsafe { (functions.rmw_send_request)(self.client, request.as_ptr(), &mut sequence) };
        check(functions, "rmw_send_request", code)?;
        Ok(sequence)
    }

    /// Takes a response into `response`, and returns the sequence number of its request; `None` if no response has
    /// arrived.
    ///
    /// # Errors
    /// The RMW fails.
    pub fn take(&self, response: &mut Message) -> Result<Option<i64>, RmwError> {
        let functions = &self.node.session.library.functions;
        // SAFETY: the struct has only integers and bytes, which may be zero.
        let mut info: rmw_service_info_t = unsafe { zeroed() };
        let mut is_taken = false;
        // SAFETY: the client lives, and the response is an initialised message of its type.
        let code = unsafe { (functions.rmw_take_response)(self.client, &mut info, response.as_ptr(), &mut is_taken) };
        check(functions, "rmw_take_response", code)?;
        Ok(is_taken.then_some(info.request_id.sequence_number))
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        let session = &self.node.session;
        let functions = &session.library.functions;
        let _control = session.control();
        // SAFETY: the client lives, belongs to this node and is in no wait set (R4); the call is under the lock (R3).
        let code = unsafe { (functions.rmw_destroy_client)(self.node.as_ptr(), self.client) };
        check_end(functions, "rmw_destroy_client", code);
    }
}
