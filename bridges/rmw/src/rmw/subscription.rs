//! A subscription on the network, for serialized messages.

use super::{
    error::{RmwError, check, check_end, check_pointer},
    node::{Node, c_text},
    serialized::Serialized,
    types::MessageSupport,
    waiter::Handle,
};
use gantry::{Gid, Qos};
use rmw_abi::{bindings::*, qos::qos_profile};
use std::{mem::zeroed, ptr::null_mut, sync::Arc};

/// A subscription on the network, for serialized messages.
pub struct Subscription {
    pub node: Arc<Node>,
    subscription: *mut rmw_subscription_t,
}

// SAFETY: the subscription is created and destroyed under the session's lock (R3), and only the waiter's thread takes
// messages.
unsafe impl Send for Subscription {}
// SAFETY: as above.
unsafe impl Sync for Subscription {}

/// The information about a message that was taken.
#[derive(Clone, Copy, Debug)]
pub struct Taken {
    pub publisher: Gid,
    /// The sequence number that the publisher gave the message; `None` if the RMW does not support sequence numbers.
    pub sequence: Option<u64>,
    /// The time of publication in ns since 1970.
    pub wall_ns: u64,
}

impl Subscription {
    /// Creates a subscription of `node`, which receives no messages of this session's publishers.
    ///
    /// # Errors
    /// The RMW refuses it.
    pub fn new(
        node: &Arc<Node>,
        support: &MessageSupport,
        topic: &str,
        qos: &Qos,
    ) -> Result<Arc<Subscription>, RmwError> {
        let functions = &node.session.library.functions;
        let (name, profile) = (c_text(topic), qos_profile(qos));
        let options = rmw_subscription_options_t {
            rmw_specific_subscription_payload: null_mut(),
            ignore_local_publications: !node.session.leaves_out_own(),
            require_unique_network_flow_endpoints: RMW_UNIQUE_NETWORK_FLOW_ENDPOINTS_NOT_REQUIRED,
            content_filter_options: null_mut(),
        };
        let _control = node.session.control();
        // SAFETY: the node lives, the type support stays loaded (R1), and the call is under the lock (R3).
        let made = unsafe {
            (functions.rmw_create_subscription)(node.as_ptr(), support.handle(), name.as_ptr(), &profile, &options)
        };
        let subscription = check_pointer(functions, "rmw_create_subscription", made)?;
        Ok(Arc::new(Subscription { node: node.clone(), subscription }))
    }

    /// The subscription's pointer for the arrays of `rmw_wait`.
    pub fn handle(&self) -> Handle {
        // SAFETY: the subscription lives, and its fields do not change.
        Handle::Subscription(unsafe { (*self.subscription).data })
    }

    /// Takes a message of another session into the buffer `message`; returns `None` if no message has arrived.
    ///
    /// # Errors
    /// The RMW fails.
    pub fn take(&self, message: &mut Serialized) -> Result<Option<Taken>, RmwError> {
        let session = &self.node.session;
        loop {
            let taken = self.take_any(message)?;
            let is_own = |taken: &Taken| taken.publisher.0.first_chunk() == session.own_prefix.get();
            if !session.leaves_out_own() || !taken.as_ref().is_some_and(is_own) {
                return Ok(taken);
            }
        }
    }

    fn take_any(&self, message: &mut Serialized) -> Result<Option<Taken>, RmwError> {
        let functions = &self.node.session.library.functions;
        // SAFETY: the struct has only integers, a nullable pointer, bytes and a `bool`, which may be zero.
        let mut info: rmw_message_info_t = unsafe { zeroed() };
        let mut is_taken = false;
        // SAFETY: the subscription lives, and the array grows with its own allocator.
        let code = unsafe {
            (functions.rmw_take_serialized_message_with_info)(
                self.subscription,
                &mut message.array,
                &mut is_taken,
                &mut info,
                null_mut(),
            )
        };
        check(functions, "rmw_take_serialized_message_with_info", code)?;
        let sequence = Some(info.publication_sequence_number).filter(|number| *number != u64::MAX && *number != 0);
        let wall_ns = u64::try_from(info.source_timestamp).unwrap_or_default();
        Ok(is_taken.then_some(Taken { publisher: Gid(info.publisher_gid.data), sequence, wall_ns }))
    }
}

impl Drop for Subscription {
    fn drop(&mut self) {
        let session = &self.node.session;
        let functions = &session.library.functions;
        let _control = session.control();
        // SAFETY: the subscription lives, belongs to this node and is in no wait set (R4); the call is under the lock
        // (R3).
        let code = unsafe { (functions.rmw_destroy_subscription)(self.node.as_ptr(), self.subscription) };
        check_end(functions, "rmw_destroy_subscription", code);
    }
}
