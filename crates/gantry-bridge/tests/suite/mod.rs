//! Tests of two hosts, each with a bridge, over any network. The test program of each bridge includes these tests,
//! and has a module `support` that starts its bridges.

pub mod hosts;
mod hubs;
mod qos;
mod restarts;
mod two_hosts;
