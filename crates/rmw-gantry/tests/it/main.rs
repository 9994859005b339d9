//! The C functions as rcl calls them, without a ROS 2: contexts, endpoints, waits, callbacks and events of one process.

mod callbacks;
mod distribution;
mod endpoints;
mod events;
mod malformed;
mod ros;
mod services;
mod storeys;
mod threads;
mod unload;
mod waits;
