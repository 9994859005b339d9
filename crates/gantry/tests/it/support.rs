//! What the tests share: types, child processes, waiting.

use gantry::{GenericSample, GenericSubscription, Node, PlainMessage, TypeDescription};
use std::{
    io::{BufRead, BufReader, Write},
    process::{Child, ChildStdin, Command, Stdio},
    sync::mpsc::Receiver,
    time::{Duration, Instant},
};
use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout};

/// Long enough for any machine; only a hang gets there.
pub const PATIENCE: Duration = Duration::from_secs(60);
/// A name, and the test.
pub type Test = (&'static str, fn());

/// Lists tests by their names.
macro_rules! tests {
    ($($test:ident),* $(,)?) => {
        pub const TESTS: &[crate::support::Test] =
            &[$((concat!(module_path!(), "::", stringify!($test)), $test)),*];
    };
}
pub(crate) use tests;

/// A fixed-size message.
#[derive(Clone, Copy, Debug, PartialEq, FromBytes, IntoBytes, KnownLayout, Immutable)]
#[repr(C)]
pub struct Point {
    pub x: f64,
    pub y: f64,
}

impl PlainMessage for Point {
    const TYPE_NAME: &'static str = "test_msgs/msg/Point";
    const DEFINITION: &'static str = "float64 x\nfloat64 y";
}

/// What the library says of [`Point`].
pub fn point() -> TypeDescription {
    TypeDescription {
        name: <Point as PlainMessage>::TYPE_NAME.into(),
        hash: [0; 32],
        definition: <Point as PlainMessage>::DEFINITION.into(),
        payload_bytes: size_of::<Point>(),
    }
}

/// A type without a bound, whose hash is known.
pub fn path() -> TypeDescription {
    let definition =
        format!("test_msgs/Point[] points\n{}\nMSG: test_msgs/Point\nfloat64 x\nfloat64 y\n", "=".repeat(80));
    TypeDescription { name: "test_msgs/msg/Path".into(), hash: [7; 32], definition, payload_bytes: usize::MAX }
}

/// A path of so many points, as CDR.
pub fn path_bytes(points: u32) -> Vec<u8> {
    let mut bytes = u64::from(points).to_le_bytes().to_vec(); // the count, and padding
    for place in 0..points {
        let x = f64::from(place);
        bytes.extend_from_slice(Point { x, y: -x }.as_bytes());
    }
    bytes
}

pub fn node() -> Node {
    Node::new("tester").unwrap()
}

/// The next sample, waited for.
pub fn receive(subscription: &mut GenericSubscription) -> GenericSample {
    let deadline = Instant::now() + PATIENCE;
    loop {
        if let Some(sample) = subscription.take().unwrap() {
            return sample;
        }
        assert!(Instant::now() < deadline, "no sample came");
        subscription.wait(Duration::from_secs(1)).unwrap();
    }
}

/// Waits for a condition that others bring about.
pub fn eventually(what: &str, mut condition: impl FnMut() -> bool) {
    let deadline = Instant::now() + PATIENCE;
    while !condition() {
        assert!(Instant::now() < deadline, "never: {what}");
        std::thread::yield_now();
    }
}

/// A child process; killed when dropped.
pub struct Peer {
    child: Child,
    stdin: Option<ChildStdin>,
    lines: Receiver<String>,
}

impl Peer {
    /// Starts this program in a role, and waits until it is ready.
    pub fn start(role: &str, topic: &str) -> Peer {
        Peer::start_in(0, role, topic)
    }

    /// The same in a domain of the test's own, where nobody else is.
    pub fn start_in(domain_id: u32, role: &str, topic: &str) -> Peer {
        let mut child = Command::new(std::env::current_exe().unwrap())
            .args(["--child", role, topic])
            .env("ROS_DOMAIN_ID", domain_id.to_string())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let (stdin, stdout) = (child.stdin.take(), BufReader::new(child.stdout.take().unwrap()));
        let (sender, lines) = std::sync::mpsc::channel();
        std::thread::spawn(move || stdout.lines().map_while(Result::ok).try_for_each(|line| sender.send(line)));
        let mut peer = Peer { child, stdin, lines };
        assert_eq!(peer.line(), "ready");
        peer
    }

    /// The next line that it says.
    pub fn line(&mut self) -> String {
        match self.lines.recv_timeout(PATIENCE) {
            Ok(line) => line,
            Err(why) => panic!("the child says nothing ({why}); it is {:?}", self.child.try_wait()),
        }
    }

    pub fn id(&self) -> u32 {
        self.child.id()
    }

    /// Tells it to go on.
    pub fn go_on(&mut self) {
        self.tell("");
    }

    /// Tells it what to do.
    pub fn tell(&mut self, order: &str) {
        writeln!(self.stdin.as_mut().unwrap(), "{order}").unwrap();
    }

    /// `kill -9`, and waits until it is gone.
    pub fn kill(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }

    /// Lets it end by itself.
    pub fn finish(mut self) {
        self.stdin = None;
        let status = self.child.wait().unwrap();
        assert!(status.success(), "{status}");
    }
}

impl Drop for Peer {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
