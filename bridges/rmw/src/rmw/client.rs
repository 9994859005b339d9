//! A client of services of other sessions.

use super::{
    error::{RmwError, check, check_end, check_pointer},
    node::{Node, c_text},
    types::ServiceSupport,
    waiter::Handle,
};
use gantry::Qos;
use rmw_abi::{bindings::*, messages::Message, qos::qos_profile};
use std::{mem::zeroed, sync::Arc};

/// A client.
pub struct Client {
    node: Arc<Node>,
    client: *mut rmw_client_t,
    pub support: Arc<ServiceSupport>,
}

// SAFETY: the client is made and ended under the session's lock (R3); `rmw` allows sending from any thread, and
// responses are taken by the waiter's thread.
unsafe impl Send for Client {}
// SAFETY: as above.
unsafe impl Sync for Client {}

impl Client {
    /// Makes a client of `node`.
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
        // SAFETY: a live node and a type support that stays (R1), under the lock (R3).
        let made = unsafe { (functions.rmw_create_client)(node.as_ptr(), support.handle(), name.as_ptr(), &profile) };
        let client = check_pointer(functions, "rmw_create_client", made)?;
        Ok(Arc::new(Client { node: node.clone(), client, support: support.clone() }))
    }

    /// The handle of the client for a wait set.
    pub fn handle(&self) -> Handle {
        // SAFETY: a live client, whose fields do not change.
        Handle::Client(unsafe { (*self.client).data })
    }

    /// Whether a server is matched, of this session or of another one.
    pub fn is_ready(&self) -> bool {
        let functions = &self.node.session.library.functions;
        let mut is_available = false;
        let _control = self.node.session.control();
        // SAFETY: a live node and its client, under the lock (R3).
        let code =
            unsafe { (functions.rmw_service_server_is_available)(self.node.as_ptr(), self.client, &mut is_available) };
        check(functions, "rmw_service_server_is_available", code).is_ok() && is_available
    }

    /// Sends a request, and returns its number.
    ///
    /// # Errors
    /// The RMW refuses the request.
    pub fn send(&self, request: &Message) -> Result<i64, RmwError> {
        let functions = &self.node.session.library.functions;
        let mut sequence = 0;
        // SAFETY: a live client, and an initialised request of its type.
        let code = unsafe { (functions.rmw_send_request)(self.client, request.as_ptr(), &mut sequence) };
        check(functions, "rmw_send_request", code)?;
        Ok(sequence)
    }

    /// Takes a response into this message, and returns the number of its request.
    ///
    /// # Errors
    /// The RMW fails.
    pub fn take(&self, response: &mut Message) -> Result<Option<i64>, RmwError> {
        let functions = &self.node.session.library.functions;
        // SAFETY: a struct of integers and bytes.
        let mut info: rmw_service_info_t = unsafe { zeroed() };
        let mut is_taken = false;
        // SAFETY: a live client, and an initialised response of its type.
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
        // SAFETY: a live client of this node that no wait set has (R4), under the lock (R3).
        let code = unsafe { (functions.rmw_destroy_client)(self.node.as_ptr(), self.client) };
        check_end(functions, "rmw_destroy_client", code);
    }
}
