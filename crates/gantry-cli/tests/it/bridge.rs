//! `bridge zenoh`, `bridge status`. The bridge itself has its tests in `bridges/zenoh`.

use crate::support::*;
use gantry::Qos;
use gantry_msgs::std_msgs::msg::{String as Text, StringShape};
use std::os::unix::fs::PermissionsExt;

tests![
    a_bridge_that_is_not_built_is_named_with_the_command,
    the_program_in_the_path_is_started,
    the_status_names_each_reason
];

fn a_bridge_that_is_not_built_is_named_with_the_command() {
    let run = run(command(1, &["bridge", "zenoh"]).env("PATH", "/nowhere"));
    assert_eq!(run.code, Some(1));
    assert!(run.err.contains("cargo install --locked --path bridges/zenoh"), "{}", run.err);
    assert!(fails(1, &["bridge", "status"]).contains("domain 1 has no bridge; `gantry bridge zenoh` starts one"));
}

fn the_program_in_the_path_is_started() {
    let folder = tempfile::tempdir().unwrap();
    let program = folder.path().join("gantry-bridge-zenoh");
    std::fs::write(&program, "#!/bin/sh\necho \"$@\"\n").unwrap();
    std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o755)).unwrap();
    let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_gantry"));
    let command = command.args(["--domain-id", "2", "bridge", "zenoh", "--router", "--help"]);
    let run = run(command.env("PATH", format!("{}:/usr/bin:/bin", folder.path().display())));
    assert_eq!((run.code, &*run.out), (Some(0), "--domain-id 2 --router --help\n"), "{}", run.err);
}

fn the_status_names_each_reason() {
    let node = node_in(3, "_gantry_bridge_test");
    let qos = Qos::default().keep_last(1).transient_local();
    let mut publisher = node.create_publisher::<Text>("~/status", qos).unwrap();
    let status = r#"{ "network": "test", "domain_id": 3, "session": "ab12", "local_nodes": 2, "far_nodes": 5, "malformed": 1,
        "links": [{ "session": "cd34", "address": "tcp/192.168.7.2:7447" }],
        "topics": [{ "name": "/idle", "direction": "out" },
                   { "name": "/image", "direction": "out", "carried": 7, "carried_bytes": 700, "overwritten": 3, "waiting": 2,
                     "rate_hz": 2.5, "bytes_per_s": 250.0 }],
        "mismatches": ["/map is not carried: …"] }"#;
    let message = publisher.loan_with(StringShape { data: status }).unwrap();
    publisher.publish(message).unwrap();
    let text = prints(3, &["bridge", "status"]);
    for line in [
        "test: domain 3 is session ab12; it shows 2 nodes and sees 5",
        "  connected with cd34 at tcp/192.168.7.2:7447",
        "  out /image: 7 messages, 700 bytes; now 2.5 Hz, 250 bytes/s; 2 wait for the network; 3 overwritten by newer ones, because the link is slower",
        "  /map is not carried: …",
    ] {
        assert!(text.lines().any(|printed| printed == line), "{line} is not in {text}");
    }
    assert!(!text.contains("/idle") && prints(3, &["bridge", "status", "--all"]).contains("/idle"));
    assert_eq!(gantry(3, &["bridge", "status", "--json"]).json()[0]["topics"][0]["overwritten"], 3);
}
