//! Tests of two hosts with a bridge each, over any network. The test program of a bridge includes them, and has a
//! module `support` that starts its bridges.

pub mod hosts;
mod hubs;
mod qos;
mod restarts;
mod two_hosts;
