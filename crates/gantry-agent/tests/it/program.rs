//! Tests of the program `gantry-agent` and its command line.

use std::{
    io::{BufRead, BufReader},
    process::{Command, Stdio},
};

test_support::tests!(the_first_line_says_who_can_connect);

/// Starts the program with these arguments. Returns the first line that it prints.
fn first_line(arguments: &[&str]) -> String {
    let mut program = Command::new(env!("CARGO_BIN_EXE_gantry-agent"))
        .args(arguments)
        .args(["--port", "0", "--domain", "0"])
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut line = String::new();
    let read = BufReader::new(program.stderr.take().unwrap()).read_line(&mut line);
    program.kill().unwrap();
    program.wait().unwrap();
    read.unwrap();
    line
}

fn the_first_line_says_who_can_connect() {
    let check = |arguments: &[&str], words: &[&str]| {
        let line = first_line(arguments);
        assert!(words.iter().all(|words| line.contains(words)), "{line}");
    };
    for transport in ["udp", "tcp"] {
        let local = [&*transport.to_uppercase(), " 127.0.0.1:", "each program on this machine", "--address 0.0.0.0"];
        check(&[transport], &local);
        let open = [transport, "--address", "0.0.0.0"];
        check(&open, &[" 0.0.0.0:", "each host that reaches this port can publish", "--allow"]);
        let allowed = [&open[..], &["--allow", "192.168.7.0/24"]].concat();
        check(&allowed, &["each host in 192.168.7.0/24 can publish"]);
    }
}
