//! Starts bridges and plain Zenoh sessions for the tests here and in `partners`.

pub use crate::suite::hosts::{Bridge, first_host, in_host, node};

use crate::suite::hosts;
use gantry_bridge::{Status, TopicStatus};
use std::{
    collections::BTreeSet,
    net::TcpListener,
    path::Path,
    process::Command,
    sync::{Arc, Mutex},
};
use test_support::eventually;
use xxhash_rust::xxh3::xxh3_128;
use zenoh::{Config, Session, Wait, sample::SampleKind};

pub const STRING: &str =
    "std_msgs::msg::dds_::String_/RIHS01_df668c740482bbd48fb39d76a70dfd4bd59db1288021743503259e948f6b1a18";

/// The network's name, as bridges have it in their status and in the graph entries of far nodes.
pub fn network() -> &'static str {
    "zenoh"
}

/// True if a sample crosses the bridge with the sequence number of its publisher.
pub const KEEPS_NUMBERS: bool = true;

/// The ports of bridges that are connected with each other.
pub struct Link {
    ports: Vec<u16>,
}

impl Link {
    pub fn new() -> Link {
        Link::between(2)
    }

    /// Creates a link for this number of bridges.
    pub fn between(bridges: usize) -> Link {
        Link { ports: (0..bridges).map(|_| free_port()).collect() }
    }

    pub fn start(&self, host: &Path) -> Bridge {
        self.start_with(usize::from(host != first_host()), host, &[])
    }

    /// Starts the bridge with this index in the link, with further arguments.
    pub fn start_with(&self, index: usize, host: &Path, arguments: &[&str]) -> Bridge {
        let others: Vec<u16> = self.ports.iter().copied().filter(|port| *port != self.ports[index]).collect();
        start(host, self.ports[index], &others, arguments)
    }

    /// The command that starts the bridge, without options.
    pub fn command(&self) -> Command {
        program()
    }
}

/// The bridge's program. Tests of another package get its path from an environment variable.
fn program() -> Command {
    match option_env!("CARGO_BIN_EXE_gantry-bridge-zenoh") {
        Some(path) => Command::new(path),
        None => Command::new(std::env::var_os("GANTRY_BRIDGE").unwrap()),
    }
}

/// Starts an ignored test of this test program in another host, with these environment variables. The process ends when
/// the returned value is dropped.
pub fn in_other_host(name: &str, host: &Path, variables: &[(&str, &str)]) -> Bridge {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["--exact", name, "--ignored", "--nocapture"]).envs(variables.iter().copied());
    Bridge::spawn(command, host)
}

pub fn free_port() -> u16 {
    TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port()
}

/// Starts a bridge in a host. The bridge listens on one port and connects to other ports.
pub fn start(host: &Path, listen: u16, connect: &[u16], arguments: &[&str]) -> Bridge {
    let addresses: Vec<String> = connect.iter().map(|port| format!("tcp/127.0.0.1:{port}")).collect();
    let mut command = program();
    command.args(["--listen", &format!("tcp/127.0.0.1:{listen}")]).args(arguments);
    command.args(addresses.iter().flat_map(|address| ["--connect", address]));
    if connect.is_empty() {
        command.env("ZENOH_CONFIG_OVERRIDE", "connect/endpoints=[]");
    }
    Bridge::spawn(command, host)
}

/// Starts a bridge that is a client of the router at this port, and so reaches other bridges only through it.
pub fn start_client(host: &Path, port: u16) -> Bridge {
    let mut command = program();
    command.args(["--connect", &format!("tcp/127.0.0.1:{port}")]);
    command.env("ZENOH_CONFIG_OVERRIDE", r#"mode="client";listen/endpoints=[]"#);
    Bridge::spawn(command, host)
}

/// Opens a plain Zenoh session that connects to a port of this machine.
pub fn session(port: u16) -> Session {
    zenoh::open(config(port)).wait().unwrap()
}

/// The configuration of a Zenoh session that connects to a port of this machine.
pub fn config(port: u16) -> Config {
    let mut config = Config::default();
    for (key, value) in [
        ("mode", r#""peer""#),
        ("scouting/multicast/enabled", "false"),
        ("listen/endpoints", "[]"),
        ("timestamping/enabled", "true"),
        ("connect/endpoints", &format!(r#"["tcp/127.0.0.1:{port}"]"#)),
    ] {
        config.insert_json5(key, value).unwrap();
    }
    config
}

/// The liveliness tokens that a session sees.
#[derive(Clone, Default)]
pub struct Tokens(Arc<Mutex<BTreeSet<String>>>);

impl Tokens {
    pub fn watch(session: &Session) -> Tokens {
        let tokens = Tokens::default();
        let of_callback = tokens.clone();
        let builder = session.liveliness().declare_subscriber("@ros2_lv/0/**").history(true);
        let builder = builder.callback(move |sample| {
            let (mut tokens, text) = (of_callback.0.lock().unwrap(), sample.key_expr().to_string());
            match sample.kind() {
                SampleKind::Put => tokens.insert(text),
                SampleKind::Delete => tokens.remove(&text),
            };
        });
        builder.background().wait().unwrap();
        tokens
    }

    /// The first token that contains `part`.
    pub fn find(&self, part: &str) -> Option<String> {
        self.0.lock().unwrap().iter().find(|token| token.contains(part)).cloned()
    }

    /// Waits for a token that contains `part`.
    #[track_caller]
    pub fn expect(&self, part: &str) -> String {
        eventually(&format!("a token with {part}, among {:?}", self.0.lock().unwrap()), || self.find(part).is_some());
        self.find(part).unwrap()
    }
}

/// The token of an endpoint that a plain Zenoh session declares.
pub fn token(session: &Session, number: u32, kind: &str, node: &str, rest: &str) -> String {
    format!("@ros2_lv/0/{}/0/{number}/{kind}/%/%/{node}/{rest}", session.zid())
}

pub fn gid(token: &str) -> [u8; 16] {
    xxh3_128(token.as_bytes()).to_le_bytes()
}

/// An attachment in rmw_zenoh's format.
pub fn attachment(number: i64, time_ns: i64, gid: [u8; 16]) -> Vec<u8> {
    [&number.to_le_bytes()[..], &time_ns.to_le_bytes(), &[16], &gid].concat()
}

/// A string message: encapsulation and CDR body.
pub fn text_message(text: &str) -> Vec<u8> {
    [&[0, 1, 0, 0], &(text.len() as u32 + 1).to_le_bytes()[..], text.as_bytes(), &[0]].concat()
}

/// Waits until `is_meant` is true for the status of the first host's bridge, and returns this status.
#[track_caller]
pub fn status(what: &str, is_meant: impl Fn(&Status) -> bool) -> Status {
    hosts::status(network(), what, is_meant)
}

/// The counters of a topic in a status.
pub fn topic(status: &Status, name: &str, direction: &str) -> TopicStatus {
    let is_it = |topic: &&TopicStatus| topic.name == name && topic.direction == direction;
    status.topics.iter().find(is_it).cloned().unwrap_or_default()
}
