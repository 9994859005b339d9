//! Tests of two hosts, each with a bridge, which are the same for all networks. The test program of each bridge
//! includes them, and has a module `support` that starts its bridges.

pub mod hosts;
mod hubs;
mod qos;
pub mod restarts;
mod two_hosts;
