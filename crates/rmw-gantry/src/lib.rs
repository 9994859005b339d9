//! `librmw_gantry.so`: the C interface of ROS 2's `rmw` over [`gantry`]. Unchanged ROS 2 programs use the shared memory
//! of `gantry` through it.

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
