//! `librmw_gantry.so`: the C interface of ROS 2's `rmw` over [`gantry`], so that unchanged ROS 2 programs use its
//! shared memory.

mod abi;
mod allocator;
mod argument;
pub mod bindings;
mod distribution;
mod entities;
mod failure;
mod foreign;
mod handle;
mod lock;
mod messages;
mod names;
mod qos;
mod tracing;
