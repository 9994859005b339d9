//! A node on the network.

use super::{
    error::{RmwError, check_end, check_pointer},
    session::Session,
};
use rmw_abi::bindings::*;
use std::{ffi::CString, sync::Arc};

/// A node.
pub struct Node {
    pub session: Arc<Session>,
    node: *mut rmw_node_t,
    pub namespace: String,
    pub name: String,
}

// SAFETY: the node is created, destroyed and used for graph queries only under the session's lock (R3).
unsafe impl Send for Node {}
// SAFETY: as above.
unsafe impl Sync for Node {}

impl Node {
    /// Creates a node with this namespace, which begins with a slash, and this name.
    ///
    /// # Errors
    /// The RMW refuses it.
    pub fn new(session: &Arc<Session>, namespace: &str, name: &str) -> Result<Arc<Node>, RmwError> {
        let functions = &session.library.functions;
        let (c_name, c_namespace) = (c_text(name), c_text(namespace));
        let _control = session.control();
        // SAFETY: the context is the session's, the strings end with 0, and the call is under the lock (R3).
        let node = unsafe { (functions.rmw_create_node)(session.context(), c_name.as_ptr(), c_namespace.as_ptr()) };
        let node = check_pointer(functions, "rmw_create_node", node)?;
        let (namespace, name) = (namespace.to_owned(), name.to_owned());
        Ok(Arc::new(Node { session: session.clone(), node, namespace, name }))
    }

    /// The pointer to the node, for functions that run under the session's lock.
    pub fn as_ptr(&self) -> *mut rmw_node_t {
        self.node
    }
}

/// Converts a text to a C string, which ends at the first zero byte. Names of ROS 2 have no zero bytes.
pub fn c_text(text: &str) -> CString {
    let until_zero = text.split('\0').next().unwrap_or_default();
    CString::new(until_zero).unwrap_or_default()
}

impl Drop for Node {
    fn drop(&mut self) {
        let functions = &self.session.library.functions;
        let _control = self.session.control();
        // SAFETY: the node's endpoints have ended (R2), and the call is under the lock (R3).
        let code = unsafe { (functions.rmw_destroy_node)(self.node) };
        check_end(functions, "rmw_destroy_node", code);
    }
}
