//! The far end of a topic: a thread of this process, or another process, that publishes and subscribes on the test's
//! commands. Each command is one line of text.

use super::{all, services::add};
use crate::support::*;
use gantry::*;
use gantry_msgs::example_interfaces::srv::{AddTwoInts, AddTwoInts_Request};
use std::{
    collections::HashMap,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering::Relaxed},
        mpsc::{Receiver, Sender, channel},
    },
    thread::JoinHandle,
    time::Duration,
};

/// A far end.
pub enum Far {
    Thread { commands: Option<Sender<String>>, answers: Receiver<String>, thread: Option<JoinHandle<()>> },
    Process(Option<Peer>),
}

impl Far {
    pub fn on_thread() -> Far {
        let ((commands, orders), (answer, answers)) = (channel(), channel());
        let thread = std::thread::spawn(move || {
            serve(orders.into_iter(), |line| {
                let _ = answer.send(line);
            });
        });
        assert_eq!(answers.recv_timeout(PATIENCE).unwrap(), "ready");
        Far::Thread { commands: Some(commands), answers, thread: Some(thread) }
    }

    pub fn in_process() -> Far {
        Far::Process(Some(start_child("far", "-")))
    }

    /// Sends a command.
    pub fn begin(&mut self, command: &str) {
        match self {
            Far::Thread { commands, .. } => commands.as_ref().unwrap().send(command.to_owned()).unwrap(),
            Far::Process(peer) => peer.as_mut().unwrap().say(command),
        }
    }

    /// Waits for the answer to a command.
    pub fn end(&mut self) -> String {
        match self {
            Far::Thread { answers, .. } => answers.recv_timeout(PATIENCE).unwrap(),
            Far::Process(peer) => peer.as_mut().unwrap().line(),
        }
    }

    /// Sends a command and waits for the answer.
    pub fn tell(&mut self, command: &str) -> String {
        self.begin(command);
        self.end()
    }

    /// Makes a publisher, and waits until it is matched with a subscription.
    pub fn advertise(&mut self, topic: &str, qos: &str) {
        self.tell(&format!("advertise {topic} {qos}"));
        self.tell(&format!("meet {topic} 1"));
    }

    /// Ends the far end abruptly: a process is killed (`kill -9`). A thread ends as in a drop.
    pub fn vanish(mut self) {
        if let Far::Process(peer) = &mut self {
            drop(peer.take());
        }
    }

    /// Publishes the numbers from first to last.
    pub fn publish(&mut self, topic: &str, first: usize, last: usize) {
        self.tell(&format!("publish {topic} {first} {last}"));
    }
}

impl Drop for Far {
    /// Ends the far end and all its endpoints.
    fn drop(&mut self) {
        match self {
            Far::Thread { commands, thread, .. } => {
                *commands = None;
                let ended = thread.take().unwrap().join();
                assert!(ended.is_ok() || std::thread::panicking(), "the far end panicked");
            }
            Far::Process(peer) => {
                if let (Some(peer), false) = (peer.take(), std::thread::panicking()) {
                    peer.finish();
                }
            }
        }
    }
}

/// Runs a far end, on its thread or in its process.
pub fn serve(commands: impl Iterator<Item = String>, mut say: impl FnMut(String)) {
    let mut end = End {
        node: Node::new("far").unwrap(),
        publishers: HashMap::new(),
        clients: HashMap::new(),
        silent: None,
        threads: HashMap::new(),
    };
    say("ready".to_owned());
    for command in commands {
        let words: Vec<_> = command.split_whitespace().collect();
        say(end.obey(&words));
    }
}

struct End {
    node: Node,
    publishers: HashMap<String, Publisher<Point>>,
    clients: HashMap<String, Client<AddTwoInts>>,
    silent: Option<Service<AddTwoInts>>,
    /// The threads that flood topics or serve services, by topic or service name. The flag of a thread ends it, and its
    /// result is the number of published messages.
    threads: HashMap<String, (Arc<AtomicBool>, JoinHandle<usize>)>,
}

impl End {
    fn obey(&mut self, words: &[&str]) -> String {
        let number = |word: &str| word.parse::<usize>().unwrap();
        match *words {
            ["advertise", topic, qos] => {
                let options = PublisherOptions { max_blocking_time: PATIENCE, ..PublisherOptions::default() };
                let publisher = self.node.create_publisher_with_options(topic, parse_qos(qos), options).unwrap();
                self.publishers.insert(topic.to_owned(), publisher);
            }
            ["meet", topic, count] => {
                let publisher = self.publishers.get_mut(topic).unwrap();
                assert!(publisher.wait_for_subscriptions(number(count), PATIENCE).unwrap(), "{topic}");
            }
            ["publish", topic, first, last] => {
                let publisher = self.publishers.get_mut(topic).unwrap();
                (number(first)..=number(last)).for_each(|x| send(publisher, x));
            }
            ["garbage", topic] => self.publish_garbage(topic),
            ["reply", from, to, last] => self.reply(from, to, number(last)),
            ["flood", topic, period_us] => self.flood(topic, Duration::from_micros(period_us.parse().unwrap())),
            // The answer to this command is the number of published messages.
            ["calm", topic] => {
                let (end, flood) = self.threads.remove(topic).unwrap();
                end.store(true, Relaxed);
                return flood.join().unwrap().to_string();
            }
            ["serve", name] => self.serve(name),
            // This service never answers.
            ["serve-silently", name] => self.silent = Some(self.node.create_service(name).unwrap()),
            ["call", name, a, b] => {
                let client = self.clients.entry(name.to_owned());
                let client = client.or_insert_with(|| self.node.create_client(name).unwrap());
                assert!(client.wait_for_service(PATIENCE).unwrap());
                let request = AddTwoInts_Request { a: a.parse().unwrap(), b: b.parse().unwrap() };
                return client.call_copy(&request, PATIENCE).unwrap().sum.to_string();
            }
            ["leave", topic] => drop(self.publishers.remove(topic).unwrap()),
            _ => panic!("no command {words:?}"),
        }
        "done".to_owned()
    }

    /// Publishes until the command `calm`.
    fn flood(&mut self, topic: &str, period: Duration) {
        let (mut publisher, ends) = (self.publishers.remove(topic).unwrap(), Arc::new(AtomicBool::new(false)));
        let end = ends.clone();
        let flood = move || {
            let mut count = 0;
            while !end.load(Relaxed) {
                count += 1;
                send(&mut publisher, count);
                std::thread::sleep(period);
            }
            count
        };
        self.threads.insert(topic.to_owned(), (ends, std::thread::spawn(flood)));
    }

    /// Serves a service: answers requests with the sum, until the far end is dropped.
    fn serve(&mut self, name: &str) {
        let (end, mut service) = (Arc::new(AtomicBool::new(false)), self.node.create_service(name).unwrap());
        let ends = end.clone();
        let serve = move || {
            while !ends.load(Relaxed) {
                service.wait(Duration::from_millis(5)).unwrap();
                while let Some(request) = service.take_request().unwrap() {
                    add(&mut service, request);
                }
            }
            0
        };
        self.threads.insert(name.to_owned(), (end, std::thread::spawn(serve)));
    }

    /// Publishes a malformed sample, then a message.
    fn publish_garbage(&mut self, topic: &str) {
        let of_any_size = TypeDescription { payload_bytes: usize::MAX, ..point() };
        let mut publisher = self.node.create_generic_publisher(topic, of_any_size, Qos::default()).unwrap();
        assert!(publisher.wait_for_subscriptions(1, PATIENCE).unwrap());
        publisher.publish_copy(&[1, 2, 3]).unwrap();
        publisher.publish_copy(&[0; size_of::<Point>()]).unwrap();
    }

    /// Publishes 1, then for each received number the next number, until it receives `last`.
    fn reply(&mut self, from: &str, to: &str, last: usize) {
        let mut heard = self.node.create_subscription::<Point>(from, all()).unwrap();
        let publisher = self.publishers.get_mut(to).unwrap();
        assert!(publisher.wait_for_subscriptions(1, PATIENCE).unwrap());
        send(publisher, 1);
        loop {
            assert!(heard.wait(PATIENCE).unwrap(), "no answer came");
            let Some(point) = heard.take().unwrap() else { continue };
            if point.x as usize >= last {
                break;
            }
            send(publisher, point.x as usize + 1);
        }
    }
}

impl Drop for End {
    fn drop(&mut self) {
        for (_, (end, flood)) in self.threads.drain() {
            end.store(true, Relaxed);
            let _ = flood.join();
        }
    }
}

fn send(publisher: &mut Publisher<Point>, x: usize) {
    let mut loan = publisher.loan().unwrap();
    *loan = Point { x: x as f64, y: 0.0 };
    publisher.publish(loan).unwrap();
}

/// Parses a QoS: `keep_all`, `keep_last=3`, `best_effort` and `transient_local`, separated by commas.
fn parse_qos(words: &str) -> Qos {
    words.split(',').fold(Qos::default(), |qos, word| match word.split_once('=').unwrap_or((word, "")) {
        ("keep_all", _) => qos.keep_all(),
        ("keep_last", depth) => qos.keep_last(depth.parse().unwrap()),
        ("best_effort", _) => qos.best_effort(),
        ("transient_local", _) => qos.transient_local(),
        _ => panic!("no QoS {word}"),
    })
}
