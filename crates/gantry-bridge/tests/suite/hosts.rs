//! Simulated hosts for tests: a host is a directory for shared memory. Each test runs itself again as a child process,
//! whose environment has the directory of the first host.

use gantry::{Node, Qos};
use gantry_bridge::Status;
use gantry_msgs::std_msgs::msg::String as Text;
use gantry_shm::{GraphRecord, NodeDetails, Participant};
use std::{
    path::{Path, PathBuf},
    process::{Child, Command, ExitStatus, Stdio},
    sync::Arc,
};
use test_support::eventually;

const SECOND_HOST: &str = "BRIDGE_TEST_SECOND_HOST";

/// Runs the body of a test in a separate host. `name` is the test's full name. `body` gets the directory of a second
/// host.
pub fn in_host(name: &str, body: impl FnOnce(&Path)) {
    if let Some(second) = std::env::var_os(SECOND_HOST) {
        return body(Path::new(&second));
    }
    let hosts = [(); 2].map(|()| tempfile::tempdir_in("/dev/shm").unwrap());
    let status = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", name, "--include-ignored", "--nocapture"])
        .env("GANTRY_SHM_DIR", hosts[0].path())
        .env(SECOND_HOST, hosts[1].path())
        .env("GANTRY_LOG", "error")
        .env_remove("ZENOH_CONFIG_OVERRIDE")
        .status()
        .unwrap();
    assert!(status.success(), "{name}: {status}");
}

/// The directory of the test's own host.
pub fn first_host() -> PathBuf {
    std::env::var_os("GANTRY_SHM_DIR").unwrap().into()
}

/// The process of a bridge or of another program. It is killed when this value is dropped.
pub struct Bridge(Child);

impl Bridge {
    /// Starts a program in a host.
    pub fn spawn(mut command: Command, host: &Path) -> Bridge {
        Bridge(command.env("GANTRY_SHM_DIR", host).stdin(Stdio::null()).spawn().unwrap())
    }

    /// Sends SIGTERM to the program, and waits for its end.
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

pub fn node(name: &str) -> Node {
    Node::builder(name).domain_id(0).build().unwrap()
}

pub fn join(host: &Path) -> Arc<Participant> {
    Participant::join_under(host, 0).unwrap()
}

/// Adds a node to the graph of another host.
pub fn far_node(host: &Arc<Participant>, name: &str) -> GraphRecord {
    GraphRecord::node(host.clone(), name, NodeDetails::default()).unwrap()
}

/// Waits until `is_meant` is true for the status of the first host's bridge to this network, and returns this status.
#[track_caller]
pub fn status(network: &str, what: &str, is_meant: impl Fn(&Status) -> bool) -> Status {
    let node = node("status_reader");
    let qos = Qos::default().keep_last(1).transient_local();
    let topic = format!("/_gantry_bridge_{network}/status");
    let mut statuses = node.create_subscription::<Text>(&topic, qos).unwrap();
    let mut last = Status::default();
    eventually(what, || {
        while let Some(status) = statuses.take().unwrap() {
            last = serde_json::from_str(status.data()).unwrap();
        }
        is_meant(&last)
    });
    last
}
