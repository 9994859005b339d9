//! Tests of bridges that reach each other only through a Zenoh router, as between hosts.

use crate::{
    suite::{hosts::in_host, restarts::survive_kills},
    support::{config, free_port, in_other_host, start_client},
};
use zenoh::Wait;

/// The environment variable with the port of the router.
const PORT: &str = "BRIDGE_TEST_ROUTER_PORT";

/// The router, in a process of its own.
#[test]
#[ignore = "a process of other tests"]
fn router() {
    let mut config = config(0);
    let port = std::env::var(PORT).unwrap();
    for (key, value) in [
        ("mode", r#""router""#),
        ("listen/endpoints", &format!(r#"["tcp/127.0.0.1:{port}"]"#)),
        ("connect/endpoints", "[]"),
    ] {
        config.insert_json5(key, value).unwrap();
    }
    let _session = zenoh::open(config).wait().unwrap();
    loop {
        std::thread::park();
    }
}

#[test]
fn each_late_joiner_gets_the_latched_samples_once_after_kills_of_bridges_and_router() {
    in_host("router::each_late_joiner_gets_the_latched_samples_once_after_kills_of_bridges_and_router", |second| {
        let port = free_port();
        let start_router = || in_other_host("router::router", second, &[(PORT, &port.to_string())]);
        survive_kills(second, |host| start_client(host, port), &[&start_router]);
    });
}
