//! Tests of the program: samples for scripts, and the state of the terminal after the program has ended.

use gantry::{Node, Qos, TypeDescription};
use rustix::{
    event::{PollFd, PollFlags, Timespec, poll},
    process::{Pid, Signal, kill_process},
    pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt},
    termios::{LocalModes, Winsize, tcgetattr, tcsetwinsize},
};
use std::{
    fs::File,
    io::{Read, Write},
    os::fd::OwnedFd,
    process::{Child, Command, Stdio},
    time::{SystemTime, UNIX_EPOCH},
};
use test_support::{eventually, tests};

tests![
    one_sample_is_printed_for_scripts,
    the_terminal_is_as_before_after_a_key_and_after_a_signal,
    another_size_is_drawn_at_once,
    a_signal_ends_the_program_while_its_output_takes_no_bytes,
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

fn set_size(terminal: &OwnedFd, columns: u16) {
    tcsetwinsize(terminal, Winsize { ws_row: 24, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0 }).unwrap();
}

/// A pseudo-terminal of 80 columns in which the program runs.
struct Screen {
    master: File,
    slave: OwnedFd,
    child: Child,
    seen: String,
}

impl Screen {
    fn open(domain_id: u32, arguments: &[&str]) -> Screen {
        let master = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC).unwrap();
        grantpt(&master).unwrap();
        unlockpt(&master).unwrap();
        let name = ptsname(&master, Vec::new()).unwrap();
        let slave: OwnedFd = File::options().read(true).write(true).open(name.to_str().unwrap()).unwrap().into();
        let end = || Stdio::from(slave.try_clone().unwrap());
        set_size(&slave, 80);
        let child = command(domain_id, arguments).stdin(end()).stdout(end()).stderr(end()).spawn().unwrap();
        Screen { master: master.into(), slave, child, seen: String::new() }
    }

    fn is_canonical(&self) -> bool {
        tcgetattr(&self.slave).unwrap().local_modes.contains(LocalModes::ICANON)
    }

    /// Reads until the output contains `part`, and returns the output before it.
    fn read_to(&mut self, part: &str) -> String {
        loop {
            if let Some(at) = self.seen.find(part) {
                let before = self.seen[..at].to_owned();
                self.seen.drain(..at + part.len());
                return before;
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
        let mut screen = Screen::open(4, &[]);
        screen.read_to("\x1b[?1049h"); // the alternate screen
        screen.read_to("gantry top");
        eventually("the terminal is raw", || !screen.is_canonical());
        end(&mut screen);
        screen.read_to("\x1b[?1049l");
        assert!(screen.child.wait().unwrap().success());
        assert!(screen.is_canonical());
    }
}

fn another_size_is_drawn_at_once() {
    let mut screen = Screen::open(4, &["--interval", "60"]);
    screen.read_to("gantry top");
    // Each drawing first hides the cursor. After the second drawing, the next sample comes only a minute later.
    (0..2).for_each(|_| drop(screen.read_to("\x1b[?25l")));
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_secs() % 86_400;
    set_size(&screen.slave, 200);
    screen.read_to("gantry top");
    let heading = screen.read_to(" UTC");
    let time: Vec<u64> = heading[heading.len() - 8..].split(':').map(|part| part.parse().unwrap()).collect();
    let seconds = time[0] * 3600 + time[1] * 60 + time[2];
    assert!(seconds <= now || now < 60, "the picture of {heading} is of another sample");
    screen.read_to("p pause"); // shown only above 80 columns
}

fn a_signal_ends_the_program_while_its_output_takes_no_bytes() {
    let node = Node::builder("talker").domain_id(5).build().unwrap();
    let bytes = || TypeDescription { name: "test_msgs/msg/Bytes".into(), payload_bytes: 64, ..Default::default() };
    let topic = |number| format!("/a_topic_with_a_name_that_is_long_{number}");
    let publish = |number| node.create_generic_publisher(&topic(number), bytes(), Qos::default()).unwrap();
    let _publishers: Vec<_> = (0..80).map(publish).collect();
    // First case: standard output is a pipe from which the test reads nothing.
    let mut child = command(5, &["--json", "--interval", "0.1"]).stdout(Stdio::piped()).spawn().unwrap();
    let mut pipe = child.stdout.take().unwrap();
    eventually("the pipe is full", || rustix::io::ioctl_fionread(&pipe).unwrap() > 60_000);
    kill_process(Pid::from_child(&child), Signal::TERM).unwrap();
    assert!(child.wait().unwrap().success());
    let mut text = String::new();
    pipe.read_to_string(&mut text).unwrap();
    assert!(text.starts_with('{') && !text.contains('\x1b'), "the codes of a terminal are in the output");
    // Second case: standard output is a terminal from which the test reads nothing.
    let mut screen = Screen::open(5, &[]);
    screen.read_to("gantry top");
    let mut columns = 100;
    eventually("the terminal is full", || {
        columns = 100 + (columns + 1) % 100;
        set_size(&screen.slave, columns);
        let mut ready = [PollFd::new(&screen.slave, PollFlags::OUT)];
        poll(&mut ready, Some(&Timespec { tv_sec: 0, tv_nsec: 10_000_000 })).unwrap() == 0
    });
    kill_process(Pid::from_child(&screen.child), Signal::TERM).unwrap();
    assert!(screen.child.wait().unwrap().success());
    assert!(screen.is_canonical());
}

fn a_domain_that_is_none_is_named() {
    let output = command(233, &["--once", "--interval", "0.1"]).output().unwrap();
    assert_ne!(output.status.code(), Some(0));
    assert!(String::from_utf8_lossy(&output.stderr).contains("233"), "{output:?}");
}

/// The test closes the terminal. The program gets no SIGHUP, because the terminal is not the controlling terminal of
/// its session.
fn a_terminal_that_is_gone_ends_the_program() {
    let mut screen = Screen::open(4, &[]);
    screen.read_to("gantry top");
    let Screen { master, slave, mut child, .. } = screen;
    drop((master, slave));
    assert!(child.wait().unwrap().success());
}
