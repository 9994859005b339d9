//! The loops of the threads that publish, take and relay.

pub mod listener;
pub mod message;
pub mod publisher;
pub mod refusals;
pub mod relay;
pub mod shared_thread;
pub mod subscriber;
