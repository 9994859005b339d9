//! The trait of service types, which generated code implements.

use crate::message::Message;

/// A service type: the types of its requests and responses.
pub trait Service: 'static {
    /// The message that a client sends.
    type Request: Message;
    /// The message that a server sends back.
    type Response: Message;
    /// ROS 2's name of the type, such as `std_srvs/srv/SetBool`.
    const TYPE_NAME: &'static str;
    /// The RIHS01 hash of the service.
    const TYPE_HASH: [u8; 32];
}
