//! The program: samples for scripts, and the terminal after it ended.

use gantry::{Node, Qos, TypeDescription};
use rustix::{
    process::{Pid, Signal, kill_process},
    pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt},
    termios::{LocalModes, Winsize, tcgetattr, tcsetwinsize},
};
use std::{
    fs::File,
    io::{Read, Write},
    os::fd::OwnedFd,
    process::{Child, Command, Stdio},
};
use test_support::{eventually, tests};

tests![
    one_sample_is_printed_for_scripts,
    the_terminal_is_as_before_after_a_key_and_after_a_signal,
    a_terminal_that_is_gone_ends_the_program,
    a_domain_that_is_none_is_named,
];

fn command(domain_id: u32, arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_gantry-top"));
    command.args(arguments).args(["--domain-id", &domain_id.to_string()]);
    command
}

fn one_sample_is_printed_for_scripts() {
    let node = Node::builder("talker").domain_id(3).build().unwrap();
    let bytes = TypeDescription { name: "test_msgs/msg/Bytes".into(), payload_bytes: 64, ..Default::default() };
    let mut publisher = node.create_generic_publisher("/chatter", bytes, Qos::default()).unwrap();
    publisher.publish_copy(&[1; 64]).unwrap();
    let output = command(3, &["--once", "--interval", "0.1"]).output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(text.starts_with("TOPIC") && text.contains("\n/chatter "), "{text}");
    let output = command(3, &["--once", "--json", "--interval", "0.1"]).output().unwrap();
    let sample: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!((&sample["domain_id"], &sample["processes"]), (&3.into(), &1.into()));
    let topic = sample["topics"].as_array().unwrap().iter().find(|topic| topic["name"] == "/chatter").unwrap();
    assert_eq!(topic["publishers"][0]["newest"], 1);
    assert_eq!(topic["type_name"], "test_msgs/msg/Bytes");
    assert_eq!(node.node_names().unwrap(), ["/talker"], "the table is no member of the domain");
}

/// A terminal of 80 columns with the program in it.
struct Screen {
    master: File,
    slave: OwnedFd,
    child: Child,
    seen: String,
}

impl Screen {
    fn open() -> Screen {
        let master = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC).unwrap();
        grantpt(&master).unwrap();
        unlockpt(&master).unwrap();
        let name = ptsname(&master, Vec::new()).unwrap();
        let slave: OwnedFd = File::options().read(true).write(true).open(name.to_str().unwrap()).unwrap().into();
        tcsetwinsize(&slave, Winsize { ws_row: 24, ws_col: 80, ws_xpixel: 0, ws_ypixel: 0 }).unwrap();
        let end = || Stdio::from(slave.try_clone().unwrap());
        let child = command(4, &[]).stdin(end()).stdout(end()).stderr(end()).spawn().unwrap();
        Screen { master: master.into(), slave, child, seen: String::new() }
    }

    fn is_canonical(&self) -> bool {
        tcgetattr(&self.slave).unwrap().local_modes.contains(LocalModes::ICANON)
    }

    /// Reads until the output has this.
    fn read_to(&mut self, part: &str) {
        loop {
            if let Some(at) = self.seen.find(part) {
                self.seen.drain(..at + part.len());
                return;
            }
            let mut bytes = [0; 4096];
            let count = self.master.read(&mut bytes).unwrap();
            self.seen += &String::from_utf8_lossy(&bytes[..count]);
        }
    }
}

fn the_terminal_is_as_before_after_a_key_and_after_a_signal() {
    let end: [fn(&mut Screen); 3] = [
        |screen| screen.master.write_all(b"q").unwrap(),
        |screen| screen.master.write_all(&[3]).unwrap(), // Ctrl-C
        |screen| kill_process(Pid::from_child(&screen.child), Signal::TERM).unwrap(),
    ];
    for end in end {
        let mut screen = Screen::open();
        screen.read_to("\x1b[?1049h"); // the other screen
        screen.read_to("gantry top");
        eventually("the terminal is raw", || !screen.is_canonical());
        end(&mut screen);
        screen.read_to("\x1b[?1049l");
        assert!(screen.child.wait().unwrap().success());
        assert!(screen.is_canonical());
    }
}

fn a_domain_that_is_none_is_named() {
    let output = command(233, &["--once", "--interval", "0.1"]).output().unwrap();
    assert_ne!(output.status.code(), Some(0));
    assert!(String::from_utf8_lossy(&output.stderr).contains("233"), "{output:?}");
}

/// A terminal whose window was closed: it sends no signal to a process that is not its session's.
fn a_terminal_that_is_gone_ends_the_program() {
    let mut screen = Screen::open();
    screen.read_to("gantry top");
    let Screen { master, slave, mut child, .. } = screen;
    drop((master, slave));
    assert!(child.wait().unwrap().code().is_some());
}
