//! Tests of the server: they run the built program and connect viewers to it. Foxglove's SDK parses the
//! server's messages.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on may say so by panicking")]

mod connections;
mod graph;
mod node_client;
mod parameters;
mod publications;
mod services;
mod stalled;
mod support;
mod topics;

use std::process::ExitCode;
use test_support::{in_own_memory, trials};

fn main() -> ExitCode {
    in_own_memory(None, || {
        trials([
            topics::TESTS,
            connections::TESTS,
            publications::TESTS,
            services::TESTS,
            parameters::TESTS,
            graph::TESTS,
            stalled::TESTS,
            node_client::TESTS,
        ])
    })
}
