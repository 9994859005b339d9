//! A reader: a process that takes the messages of all measured topics every 10 ms, as the recorder does, and drops
//! them.

use crate::{DOMAIN, talker::message_type};
use gantry::{GenericSubscription, Node, Qos};
use std::{
    io::{BufRead, BufReader},
    process::{Child, Command, Stdio},
    thread,
    time::Duration,
};

/// The environment variable that makes this program a reader. Its value has the topics as NAME:BYTES:HZ.
pub const READER: &str = "BAG_BENCH_READER";
const PAUSE: Duration = Duration::from_millis(10);

/// A running reader. It is killed when this value is dropped.
pub struct Reader(Child);

impl Reader {
    /// Starts a reader, and waits until it has its subscriptions.
    pub fn start(topics: &str) -> Reader {
        let mut command = Command::new(std::env::current_exe().unwrap());
        let mut child = command.env(READER, topics).stdout(Stdio::piped()).spawn().unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        assert_eq!(line, "subscribed\n");
        Reader(child)
    }
}

impl Drop for Reader {
    fn drop(&mut self) {
        self.0.kill().unwrap();
        self.0.wait().unwrap();
    }
}

/// Takes messages until the process is killed.
pub fn read(topics: &str) {
    let node = Node::builder("reader").domain_id(DOMAIN).build().unwrap();
    let qos = Qos::default().best_effort().keep_last(1024);
    let subscribe = |topic: &str| {
        let name = topic.split(':').next().unwrap();
        node.create_generic_subscription(name, message_type(), qos).unwrap()
    };
    let mut subscriptions: Vec<GenericSubscription> = topics.split_whitespace().map(subscribe).collect();
    crate::talker::print_line("subscribed");
    loop {
        subscriptions.iter_mut().for_each(|subscription| while subscription.take().unwrap().is_some() {});
        thread::sleep(PAUSE);
    }
}
