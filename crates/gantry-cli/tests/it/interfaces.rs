//! `gantry interface`.

use crate::support::*;
use gantry::{Qos, TypeDescription};
use gantry_msgs::std_srvs::srv::Trigger;
use serde_json::json;
use std::{io::Write, process::Stdio};

tests![
    definitions_are_shown_with_nested_fields_below,
    a_type_that_only_a_program_has_is_shown_and_listed,
    types_are_listed_by_kind_and_package,
    a_misspelt_type_or_package_is_corrected,
    a_type_is_read_from_a_pipe,
    headers_for_cpp_are_written_once,
];

fn definitions_are_shown_with_nested_fields_below() {
    let stamped = "std_msgs/Header header\n\tbuiltin_interfaces/Time stamp\n\t\tint32 sec\n\t\tuint32 nanosec\n\tstring \
                   frame_id\ngeometry_msgs/Point point\n\tfloat64 x\n\tfloat64 y\n\tfloat64 z\n";
    assert_eq!(prints(120, &["interface", "show", "geometry_msgs/msg/PointStamped"]), stamped);
    let service = "bool data\n---\nbool success\nstring message\n";
    assert_eq!(prints(120, &["interface", "show", "std_srvs/srv/SetBool"]), service);
    let shown = gantry(120, &["interface", "show", "std_srvs/srv/SetBool", "--json"]).json();
    assert_eq!(shown, json!({ "name": "std_srvs/srv/SetBool", "definition": service }));
    let constants = prints(120, &["interface", "show", "diagnostic_msgs/msg/DiagnosticStatus"]);
    let expected = "byte OK=0\nbyte WARN=1\nbyte ERROR=2\nbyte STALE=3\nbyte level\nstring name\nstring message\nstring \
                    hardware_id\ndiagnostic_msgs/KeyValue[] values\n\tstring key\n\tstring value\n";
    assert_eq!(constants, expected);
}

fn a_type_that_only_a_program_has_is_shown_and_listed() {
    let node = node_in(121, "robot");
    let legs = TypeDescription {
        name: "my_robot/msg/Legs".into(),
        hash: [0; 32],
        definition: format!("my_robot/Leg[4] legs\n{}\nMSG: my_robot/Leg\nfloat64 length_m 0.5\n", "=".repeat(80))
            .into(),
        payload_bytes: 32,
    };
    let _legs = node.create_generic_publisher("legs", legs, Qos::default()).unwrap();
    let shown = "my_robot/Leg[4] legs\n\tfloat64 length_m 0.5\n";
    assert_eq!(prints(121, &["interface", "show", "my_robot/msg/Legs"]), shown);
    assert_eq!(prints(121, &["interface", "package", "my_robot"]), "my_robot/msg/Legs\n");
    assert!(prints(121, &["interface", "list"]).contains("    my_robot/msg/Legs\n"));
}

fn types_are_listed_by_kind_and_package() {
    let srvs = "std_srvs/srv/Empty\nstd_srvs/srv/SetBool\nstd_srvs/srv/Trigger\n";
    assert_eq!(prints(122, &["interface", "package", "std_srvs"]), srvs);
    assert_eq!(prints(122, &["interface", "package", "std_srvs", "--only-msgs"]), "");
    let all = prints(122, &["interface", "list"]);
    let (messages, services) = all.split_once("Services:\n").unwrap();
    assert!(messages.starts_with("Messages:\n") && messages.contains("    std_msgs/msg/String\n"), "{all}");
    assert!(services.contains("    std_srvs/srv/SetBool\n") && services.ends_with("Actions:\n"), "{all}");
    assert!(!all.contains("SetBool_Request"), "{all}");
    assert_eq!(prints(122, &["interface", "list", "-s"]), format!("Services:\n{}", services.replace("Actions:\n", "")));
    let listed = gantry(122, &["interface", "list", "-m", "--json"]).json();
    assert!(listed["messages"].as_array().unwrap().contains(&json!("std_msgs/msg/String")), "{listed}");
    assert_eq!(listed.get("services"), None);
}

fn a_misspelt_type_or_package_is_corrected() {
    let error = fails(123, &["interface", "show", "std_msgs/msg/Strng"]);
    assert!(error.ends_with("uses; did you mean 'std_msgs/msg/String'?\n"), "{error}");
    let error = fails(123, &["interface", "show", "std_srvs/SetBool"]);
    assert!(error.ends_with("; did you mean 'std_srvs/srv/SetBool'?\n"), "{error}");
    assert_eq!(
        fails(123, &["interface", "package", "std_msg"]),
        "Unknown package 'std_msg'; did you mean 'std_msgs'?\n"
    );
    let error = fails(123, &["topic", "pub", "a", "std_msgs/Strng"]);
    assert!(error.ends_with("; did you mean 'std_msgs/msg/String'?\n"), "{error}");
}

/// Test of `gantry service type /stop | gantry interface show -`.
fn a_type_is_read_from_a_pipe() {
    let node = node_in(124, "robot");
    let _stop = node.create_service::<Trigger>("stop").unwrap();
    let name = prints(124, &["service", "type", "stop"]);
    let mut show = command(124, &["interface", "show", "-"]);
    let mut run = show.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    run.stdin.take().unwrap().write_all(name.as_bytes()).unwrap();
    let output = run.wait_with_output().unwrap();
    assert_eq!(String::from_utf8(output.stdout).unwrap(), "---\nbool success\nstring message\n");
}

fn headers_for_cpp_are_written_once() {
    let folder = tempfile::tempdir().unwrap();
    let (packages, output) = (folder.path().join("packages"), folder.path().join("headers"));
    std::fs::create_dir_all(packages.join("my_robot/msg")).unwrap();
    std::fs::write(packages.join("my_robot/msg/LegState.msg"), "std_msgs/Header header\nfloat64[4] angles\n").unwrap();
    let arguments = ["interface", "cpp", "--output", output.to_str().unwrap(), packages.to_str().unwrap()];
    let header = output.join("gantry_msgs/my_robot/msg/leg_state.hpp");
    assert_eq!(prints(123, &arguments), format!("{}\n", header.display()));
    let text = std::fs::read_to_string(&header).unwrap();
    for line in ["#include <gantry_msgs/std_msgs/msg/header.hpp>", "namespace gantry_msgs::my_robot::msg {"] {
        assert!(text.contains(line), "{text}");
    }
    let changed = || std::fs::metadata(&header).unwrap().modified().unwrap();
    let before = changed();
    prints(123, &arguments);
    assert_eq!(changed(), before, "an unchanged header was written again");
    let standard = ["interface", "cpp", "--output", output.to_str().unwrap()];
    assert!(prints(123, &standard).contains("gantry_msgs/sensor_msgs/msg/point_cloud2.hpp\n"));
}
