//! The C functions as rcl calls them, without a ROS 2: contexts, endpoints, waits, callbacks and events of one process.

mod callbacks;
mod endpoints;
mod events;
mod ros;
mod waits;
