//! ROS 2's `rmw` for Rust: declarations of the C interface, detection of the distribution, type supports, QoS profiles.
//!
//! [`messages`] converts messages between C or C++ structs and CDR; it reads the introspection of a type only once.
//! `rmw-gantry` implements the interface, and the bridge in `bridges/rmw` loads an implementation. Both build without
//! ROS 2.

pub mod bindings;
pub mod distribution;
pub mod failure;
pub mod foreign;
pub mod messages;
pub mod qos;
