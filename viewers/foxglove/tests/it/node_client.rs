//! A test with Foxglove's npm client. `FOXGLOVE_TEST_NODE` names the folder with the client's package, which `.ci/run
//! viewers` installs.

use crate::support::*;
use gantry::Qos;
use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};

tests![the_client_of_npm_gets_every_message];

const MESSAGES: u64 = 100;

fn the_client_of_npm_gets_every_message() {
    let Some(folder) = std::env::var_os("FOXGLOVE_TEST_NODE") else {
        ignore("FOXGLOVE_TEST_NODE names no folder with the npm packages @foxglove/ws-protocol and ws");
    };
    let node = node_in(21, "talker");
    let mut talker = publisher(&node, "/numbers", Qos::default());
    let server = Server::start(21, &[]);
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/client.mjs");
    std::fs::copy(script, std::path::Path::new(&folder).join("client.mjs")).unwrap();
    let mut client = Command::new("node")
        .args(["client.mjs", &format!("ws://127.0.0.1:{}", server.port), &MESSAGES.to_string()])
        .current_dir(&folder)
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    eventually("the client subscribes, or ends with an error", || {
        assert!(client.try_wait().unwrap().is_none(), "the client ended early");
        talker.subscription_count().unwrap() == 1
    });
    let mut lines = BufReader::new(client.stdout.take().unwrap()).lines();
    for number in 0..MESSAGES {
        talker.publish_copy(&bytes_message(number, 1000)).unwrap();
        assert_eq!(lines.next().unwrap().unwrap(), format!("{number} 1016"));
    }
    assert!(client.wait().unwrap().success());
}
