//! Tests of `bag`, `bridge zenoh`, `foxglove` and `top`, which are separate programs with their own tests.

use crate::support::*;

tests![a_program_that_is_not_built_is_named_with_the_command, the_program_in_the_path_is_started];

fn a_program_that_is_not_built_is_named_with_the_command() {
    for (arguments, folder) in [
        (&["bag", "record", "-a"][..], "recorder"),
        (&["bridge", "zenoh"], "bridges/zenoh"),
        (&["foxglove"], "viewers/foxglove"),
        (&["top"], "viewers/top"),
    ] {
        let run = run(command(1, arguments).env("PATH", "/nowhere"));
        assert_eq!(run.code, Some(1));
        assert!(run.err.contains(&format!("cargo install --locked --path {folder}\n")), "{}", run.err);
    }
}

fn the_program_in_the_path_is_started() {
    let folder = tempfile::tempdir().unwrap();
    for (name, words) in [
        ("gantry-bag", &["bag"][..]),
        ("gantry-bridge-zenoh", &["bridge", "zenoh"]),
        ("gantry-foxglove", &["foxglove"]),
        ("gantry-top", &["top"]),
    ] {
        let program = folder.path().join(name);
        test_support::write_script(&program, "#!/bin/sh\necho \"$@\"\n");
        let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_gantry"));
        let command = command.args(["--domain-id", "2"]).args(words).args(["--router", "--help"]);
        let run = run(command.env("PATH", format!("{}:/usr/bin:/bin", folder.path().display())));
        assert_eq!((run.code, &*run.out), (Some(0), "--domain-id 2 --router --help\n"), "{}", run.err);
    }
}
