//! Tests of `bridge status`. The tests of the bridge itself are in `bridges/zenoh`.

use crate::support::*;
use gantry::Qos;
use gantry_msgs::std_msgs::msg::{String as Text, StringShape};

tests![a_domain_without_a_bridge_is_said, the_status_names_each_reason];

fn a_domain_without_a_bridge_is_said() {
    assert!(fails(11, &["bridge", "status"]).contains("domain 11 has no bridge; `gantry bridge zenoh` starts one"));
}

fn the_status_names_each_reason() {
    let node = node_in(12, "_gantry_bridge_test");
    let qos = Qos::default().keep_last(1).transient_local();
    let mut publisher = node.create_publisher::<Text>("~/status", qos).unwrap();
    let status = r#"{ "network": "test", "domain_id": 12, "session": "ab12", "local_nodes": 2, "far_nodes": 5, "malformed": 1,
        "links": [{ "session": "cd34", "address": "tcp/192.168.7.2:7447" }],
        "topics": [{ "name": "/idle", "direction": "out" },
                   { "name": "/image", "direction": "out", "carried": 7, "carried_bytes": 700, "overwritten": 3, "waiting": 2,
                     "rate_hz": 2.5, "bytes_per_s": 250.0 }],
        "mismatches": ["/map is not carried: …"] }"#;
    let message = publisher.loan_with(StringShape { data: status }).unwrap();
    publisher.publish(message).unwrap();
    let text = prints(12, &["bridge", "status"]);
    for line in [
        "test: domain 12 is session ab12; it shows 2 nodes and sees 5",
        "  connected with cd34 at tcp/192.168.7.2:7447",
        "  out /image: 7 messages, 700 bytes; now 2.5 Hz, 250 bytes/s; 2 wait for the network; 3 overwritten by newer ones, because the link is slower",
        "  /map is not carried: …",
    ] {
        assert!(text.lines().any(|printed| printed == line), "{line} is not in {text}");
    }
    assert!(!text.contains("/idle") && prints(12, &["bridge", "status", "--all"]).contains("/idle"));
    assert_eq!(gantry(12, &["bridge", "status", "--json"]).json()[0]["topics"][0]["overwritten"], 3);
}
