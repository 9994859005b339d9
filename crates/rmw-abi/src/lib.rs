//! ROS 2's `rmw` as C declares it: declarations, distributions, type supports, QoS profiles.
//!
//! [`messages`] is the way of messages from structs of C and C++ to CDR and back, resolved once from the introspection
//! of their type. `rmw-gantry` implements the interface; a bridge loads an implementation of it. Nothing of ROS 2 is
//! needed to build either.

pub mod bindings;
pub mod distribution;
pub mod failure;
pub mod foreign;
pub mod messages;
pub mod qos;
