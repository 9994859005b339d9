//! Tests of a client with an agent in one process.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on panics")]

mod agent;
mod connection;
mod errors;
mod faults;
mod firmware;
mod publish;
mod services;
mod simulated_can;
mod take;
mod time;
mod transports;
mod world;
