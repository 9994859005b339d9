//! ROS 2's `rmw` as C declares it: declarations, distributions, type supports, QoS profiles.
//!
//! [`messages`] converts messages from structs of C and C++ to CDR and back; the introspection of a type is read
//! once. `rmw-gantry` implements the interface; a bridge loads an implementation of it. Neither needs anything of
//! ROS 2 at build time.

pub mod bindings;
pub mod distribution;
pub mod failure;
pub mod foreign;
pub mod messages;
pub mod qos;
