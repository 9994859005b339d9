//! Tests of the bridge program: its error texts, and topics whose types are not installed.

use crate::{
    suite::hosts::*,
    support::{Link, network},
};
use gantry::{Qos, TypeDescription};

fn fails(arguments: &[&str]) -> String {
    let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_gantry-bridge-rmw"));
    let output = command.args(arguments).output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    String::from_utf8(output.stderr).unwrap()
}

#[test]
fn an_rmw_that_cannot_be_loaded_is_a_sentence() {
    in_host("program::an_rmw_that_cannot_be_loaded_is_a_sentence", |_| {
        assert!(fails(&["--rmw", "rmw_gantry"]).contains("there is nothing to bridge to"));
        let said = fails(&["--rmw", "rmw_none_cpp"]);
        assert!(said.contains("librmw_none_cpp.so is in none of these folders: /"), "{said}");
        assert!(fails(&["--rmw", "/proc/self/exe"]).contains("/proc/self/exe cannot be loaded: "));
    });
}

#[test]
fn a_type_that_is_not_installed_is_in_the_status() {
    in_host("program::a_type_that_is_not_installed_is_in_the_status", |_| {
        let link = Link::new();
        let _bridge = link.start(&first_host());
        let node = node("talker");
        let of_type =
            |name: &str| TypeDescription { name: name.to_owned(), hash: [7; 32], ..TypeDescription::default() };
        let create = |topic, name| node.create_generic_publisher(topic, of_type(name), Qos::default()).unwrap();
        let _publishers = [
            create("/absent", "none_msgs/msg/None"),
            create("/unknown", "std_msgs/msg/None"),
            create("/changed", "std_msgs/msg/String"),
        ];
        let status = status(network(), "three sentences", |status| status.mismatches.len() == 3);
        let said = |part: &str| status.mismatches.iter().any(|sentence| sentence.contains(part));
        assert!(said(
            "/absent is not carried for the publisher of node /talker: its type none_msgs/msg/None is not installed"
        ));
        assert!(said("/unknown") && said("has no type std_msgs/msg/None"), "{status:?}");
        assert!(said("/changed") && said(&"07".repeat(32)), "{status:?}");
        assert_eq!(status.network, network());
    });
}
