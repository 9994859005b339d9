//! A publisher on the network, for serialized messages.

use super::{
    error::{RmwError, check, check_end, check_pointer},
    node::{Node, c_text},
    types::MessageSupport,
};
use gantry::{ENCAPSULATION, Gid, Qos};
use rmw_abi::{bindings::*, qos::qos_profile};
use std::{
    mem::zeroed,
    ptr::null_mut,
    sync::{Arc, Mutex, PoisonError},
};

/// A publisher on the network, for serialized messages.
pub struct Publisher {
    node: Arc<Node>,
    publisher: *mut rmw_publisher_t,
    /// The GID of the publisher on the network.
    pub gid: Gid,
    /// A buffer for the current message with its encapsulation. The body is copied here, because Gantry's shared memory
    /// of a message has no room for these four bytes.
    message: Mutex<Vec<u8>>,
}

// SAFETY: the publisher is created and destroyed under the session's lock (R3). `rmw` allows a publish on any thread.
unsafe impl Send for Publisher {}
// SAFETY: as above.
unsafe impl Sync for Publisher {}

impl Publisher {
    /// Creates a publisher of `node`.
    ///
    /// # Errors
    /// The RMW refuses it.
    pub fn new(node: &Arc<Node>, support: &MessageSupport, topic: &str, qos: &Qos) -> Result<Arc<Publisher>, RmwError> {
        let functions = &node.session.library.functions;
        let (name, profile) = (c_text(topic), qos_profile(qos));
        let options = rmw_publisher_options_t {
            rmw_specific_publisher_payload: null_mut(),
            require_unique_network_flow_endpoints: RMW_UNIQUE_NETWORK_FLOW_ENDPOINTS_NOT_REQUIRED,
        };
        let control = node.session.control();
        // SAFETY: the node lives, the type support stays loaded (R1), and the call is under the lock (R3).
        let made = unsafe {
            (functions.rmw_create_publisher)(node.as_ptr(), support.handle(), name.as_ptr(), &profile, &options)
        };
        let publisher = check_pointer(functions, "rmw_create_publisher", made)?;
        // SAFETY: the struct has only a nullable pointer and bytes, which may be zero.
        let mut gid: rmw_gid_t = unsafe { zeroed() };
        // SAFETY: a live publisher.
        let code = unsafe { (functions.rmw_get_gid_for_publisher)(publisher, &mut gid) };
        drop(control);
        let made = Publisher {
            node: node.clone(),
            publisher,
            gid: Gid(gid.data),
            message: Mutex::new(ENCAPSULATION.to_vec()),
        };
        check(functions, "rmw_get_gid_for_publisher", code)?;
        if let Some(prefix) = gid.data.first_chunk() {
            node.session.own_prefix.get_or_init(|| *prefix);
        }
        Ok(Arc::new(made))
    }

    /// Publishes a message of `body_bytes`; `write` fills in its body. Blocks as long as
    /// `rmw_publish_serialized_message` blocks.
    ///
    /// # Errors
    /// The RMW refuses the message, for example after a time-out.
    pub fn publish(&self, body_bytes: usize, write: impl FnOnce(&mut [u8])) -> Result<(), RmwError> {
        let functions = &self.node.session.library.functions;
        let mut message = self.message.lock().unwrap_or_else(PoisonError::into_inner);
        message.resize(ENCAPSULATION.len() + body_bytes, 0);
        write(message.get_mut(ENCAPSULATION.len()..).unwrap_or_default());
        // SAFETY: the function has no arguments and returns a constant (R5).
        let allocator = unsafe { (functions.rcutils_get_default_allocator)() };
        let serialized = rmw_serialized_message_t {
            buffer: message.as_mut_ptr(),
            buffer_length: message.len(),
            buffer_capacity: message.len(),
            allocator,
        };
        // SAFETY: the publisher lives. The RMW reads the message during the call and does not keep it.
        let code = unsafe { (functions.rmw_publish_serialized_message)(self.publisher, &serialized, null_mut()) };
        check(functions, "rmw_publish_serialized_message", code)
    }
}

impl Drop for Publisher {
    fn drop(&mut self) {
        let functions = &self.node.session.library.functions;
        let _control = self.node.session.control();
        // SAFETY: the publisher lives and belongs to this node; the call is under the lock (R3).
        let code = unsafe { (functions.rmw_destroy_publisher)(self.node.as_ptr(), self.publisher) };
        check_end(functions, "rmw_destroy_publisher", code);
    }
}
