//! Hosts, bridges and raw sessions of tests. A host is a directory of shared memory; a test runs in the first host, as
//! a child of itself whose environment names this directory.

use gantry::{Node, Qos};
use gantry_bridge::{Status, TopicStatus};
use gantry_msgs::std_msgs::msg::String as Text;
use gantry_shm::{GraphRecord, NodeDetails, Participant};
use std::{
    collections::BTreeSet,
    net::TcpListener,
    path::{Path, PathBuf},
    process::{Child, Command, ExitStatus, Stdio},
    sync::{Arc, Mutex},
};
use test_support::eventually;
use xxhash_rust::xxh3::xxh3_128;
use zenoh::{Config, Session, Wait, sample::SampleKind};

pub const STRING: &str =
    "std_msgs::msg::dds_::String_/RIHS01_df668c740482bbd48fb39d76a70dfd4bd59db1288021743503259e948f6b1a18";
const SECOND_HOST: &str = "BRIDGE_TEST_SECOND_HOST";

/// Runs a test in a host of its own. `name` is the test's full name; the body gets the directory of a second host.
pub fn in_host(name: &str, body: impl FnOnce(&Path)) {
    if let Some(second) = std::env::var_os(SECOND_HOST) {
        return body(Path::new(&second));
    }
    let hosts = [(); 2].map(|()| tempfile::tempdir_in("/dev/shm").unwrap());
    let status = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", name, "--nocapture"])
        .env("GANTRY_SHM_DIR", hosts[0].path())
        .env(SECOND_HOST, hosts[1].path())
        .env("GANTRY_LOG", "error")
        .env_remove("ZENOH_CONFIG_OVERRIDE")
        .status()
        .unwrap();
    assert!(status.success(), "{name}: {status}");
}

/// Runs an ignored test of this program in another host, until it is dropped.
pub fn in_other_host(name: &str, host: &Path) -> Bridge {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["--exact", name, "--ignored", "--nocapture"]).env("GANTRY_SHM_DIR", host);
    Bridge(command.stdin(Stdio::null()).spawn().unwrap())
}

/// The directory of the test's own host.
pub fn first_host() -> PathBuf {
    std::env::var_os("GANTRY_SHM_DIR").unwrap().into()
}

pub fn free_port() -> u16 {
    TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port()
}

/// A bridge, or another program; killed when dropped.
pub struct Bridge(Child);

impl Bridge {
    /// Starts a bridge of the host that listens on one port and connects to others.
    pub fn start(host: &Path, listen: u16, connect: &[u16], arguments: &[&str]) -> Bridge {
        let addresses: Vec<String> = connect.iter().map(|port| format!("tcp/127.0.0.1:{port}")).collect();
        let mut command = Command::new(env!("CARGO_BIN_EXE_gantry-bridge-zenoh"));
        command.args(["--listen", &format!("tcp/127.0.0.1:{listen}")]).args(arguments);
        command.args(addresses.iter().flat_map(|address| ["--connect", address]));
        if connect.is_empty() {
            command.env("ZENOH_CONFIG_OVERRIDE", "connect/endpoints=[]");
        }
        Bridge(command.env("GANTRY_SHM_DIR", host).stdin(Stdio::null()).spawn().unwrap())
    }

    /// Asks the program to end, and waits until it did.
    pub fn terminate(mut self) -> ExitStatus {
        let kill = Command::new("kill").args(["-TERM", &self.0.id().to_string()]).status();
        assert!(kill.unwrap().success());
        self.0.wait().unwrap()
    }

    pub fn kill(mut self) {
        self.end();
    }

    fn end(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

impl Drop for Bridge {
    fn drop(&mut self) {
        self.end();
    }
}

/// A session without ROS that is connected with a port of this machine.
pub fn session(port: u16) -> Session {
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
    zenoh::open(config).wait().unwrap()
}

/// The tokens that a session sees.
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

    /// The first token that has this part.
    pub fn find(&self, part: &str) -> Option<String> {
        self.0.lock().unwrap().iter().find(|token| token.contains(part)).cloned()
    }

    /// Waits for a token that has this part.
    #[track_caller]
    pub fn expect(&self, part: &str) -> String {
        eventually(&format!("a token with {part}, among {:?}", self.0.lock().unwrap()), || self.find(part).is_some());
        self.find(part).unwrap()
    }
}

/// The text of a token of a raw session's endpoint.
pub fn token(session: &Session, number: u32, kind: &str, node: &str, rest: &str) -> String {
    format!("@ros2_lv/0/{}/0/{number}/{kind}/%/%/{node}/{rest}", session.zid())
}

pub fn gid(token: &str) -> [u8; 16] {
    xxh3_128(token.as_bytes()).to_le_bytes()
}

/// The attachment of rmw_zenoh.
pub fn attachment(number: i64, time_ns: i64, gid: [u8; 16]) -> Vec<u8> {
    [&number.to_le_bytes()[..], &time_ns.to_le_bytes(), &[16], &gid].concat()
}

/// A string in CDR, with the encapsulation.
pub fn text_message(text: &str) -> Vec<u8> {
    [&[0, 1, 0, 0], &(text.len() as u32 + 1).to_le_bytes()[..], text.as_bytes(), &[0]].concat()
}

pub fn node(name: &str) -> Node {
    Node::builder(name).domain_id(0).build().unwrap()
}

pub fn join(host: &Path) -> Arc<Participant> {
    Participant::join_under(host, 0).unwrap()
}

/// A node of another host, as its graph has it.
pub fn far_node(host: &Arc<Participant>, name: &str) -> GraphRecord {
    GraphRecord::node(host.clone(), name, NodeDetails::default()).unwrap()
}

/// The status of the first host's bridge, as soon as it fulfils a condition.
#[track_caller]
pub fn status(what: &str, is_meant: impl Fn(&Status) -> bool) -> Status {
    let node = node("status_reader");
    let qos = Qos::default().keep_last(1).transient_local();
    let mut statuses = node.create_subscription::<Text>("/_gantry_bridge_zenoh/status", qos).unwrap();
    let mut last = Status::default();
    eventually(what, || {
        while let Some(status) = statuses.take().unwrap() {
            last = serde_json::from_str(status.data()).unwrap();
        }
        is_meant(&last)
    });
    last
}

/// The counters of a topic.
pub fn topic(status: &Status, name: &str, direction: &str) -> TopicStatus {
    let is_it = |topic: &&TopicStatus| topic.name == name && topic.direction == direction;
    status.topics.iter().find(is_it).cloned().unwrap_or_default()
}
