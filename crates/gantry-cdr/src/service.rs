//! What a service type is. Implemented by generated code; `gantry` has its servers and clients.

use crate::message::Message;

/// A service: what is asked, and what is answered.
pub trait Service: 'static {
    /// What a client sends.
    type Request: Message;
    /// What it gets back.
    type Response: Message;
    /// ROS 2's name of the type, as `std_srvs/srv/SetBool`.
    const TYPE_NAME: &'static str;
    /// The RIHS01 hash of the service.
    const TYPE_HASH: [u8; 32];
}
