//! Tests of the agent. Clients made with `gantry-xrce` exchange messages with nodes of Gantry. Each test has its own
//! topics.
//!
//! The tests run in an inner process. All tests use one directory of shared memory, which the outer process makes.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on may say so by panicking")]

mod access;
mod byte_order;
mod can;
mod firmware;
mod hostile;
mod logins;
mod memory;
mod neighbours;
mod objects;
mod program;
mod saturation;
mod services;
mod sessions;
mod storms;
mod streams;
mod support;
mod threads;
mod topics;
mod transports;
mod xml;

use std::process::ExitCode;
use test_support::{in_own_memory, trials};

fn main() -> ExitCode {
    in_own_memory(None, || {
        let tests = [
            access::TESTS,
            byte_order::TESTS,
            can::TESTS,
            firmware::TESTS,
            hostile::TESTS,
            logins::TESTS,
            memory::TESTS,
            neighbours::TESTS,
            objects::TESTS,
            program::TESTS,
            saturation::TESTS,
            services::TESTS,
            sessions::TESTS,
            storms::TESTS,
            streams::TESTS,
            threads::TESTS,
            topics::TESTS,
            transports::TESTS,
            xml::TESTS,
        ];
        // A test of TCP waits for 10 s, so it starts first.
        trials(transports::OF_EACH.into_iter().chain(tests))
    })
}
