//! `librmw_gantry.so`: the C interface of ROS 2's `rmw` over [`gantry`], so that unchanged ROS 2 programs use its
//! shared memory.

mod abi;
mod allocator;
mod argument;
mod entities;
mod failure;
mod fatal_signal;
mod handle;
mod lock;
mod names;
mod qos;
mod tracing;
