//! Listeners: nodes whose callbacks send the received messages to the test.

use super::Case;
use crate::support::*;
use gantry::*;
use std::{
    ops::Deref,
    sync::{
        Arc, Mutex,
        mpsc::{Receiver, Sender, channel},
    },
};

/// The values that callbacks send to a test.
pub struct SentValues<T>(pub Receiver<T>);

pub fn value_channel<T>() -> (Sender<T>, SentValues<T>) {
    let (sender, receiver) = channel();
    (sender, SentValues(receiver))
}

impl<T> SentValues<T> {
    /// Waits for the next value.
    pub fn next(&self) -> T {
        self.0.recv_timeout(PATIENCE).unwrap()
    }

    pub fn take(&self, count: usize) -> Vec<T> {
        (0..count).map(|_| self.next()).collect()
    }

    /// Takes the values that were sent but not taken yet.
    pub fn rest(&self) -> Vec<T> {
        self.0.try_iter().collect()
    }
}

/// A node whose callbacks put each message that they get (its topic and number) into a channel.
pub struct Listener {
    pub node: Node,
    pub sender: Sender<Heard>,
    told: SentValues<Heard>,
}

/// The name of the topic, and the number in the message.
pub type Heard = (&'static str, usize);

impl Listener {
    pub fn new() -> Listener {
        let (sender, told) = value_channel();
        Listener { node: node(), sender, told }
    }

    /// Subscribes to a topic with a callback in the node's default group.
    pub fn hear(&self, case: &Case, name: &'static str, qos: Qos) -> CallbackHandle {
        let sender = self.sender.clone();
        self.node
            .create_subscription_with_callback::<Point>(&case.topic(name), qos, move |point| {
                let _ = sender.send((name, point.x as usize)); // the test may be over
            })
            .unwrap()
    }

    /// Subscribes to a topic with a callback in this group.
    pub fn hear_in(&self, case: &Case, group: &CallbackGroup, name: &'static str, qos: Qos) -> CallbackHandle {
        let (sender, subscription) =
            (self.sender.clone(), self.node.create_subscription::<Point>(&case.topic(name), qos));
        group.add_callback(subscription.unwrap(), move |_, point| {
            let _ = sender.send((name, point.x as usize));
        })
    }
}

impl Deref for Listener {
    type Target = SentValues<Heard>;

    fn deref(&self) -> &SentValues<Heard> {
        &self.told
    }
}

/// A callback that blocks until this value is dropped.
pub struct Blocker {
    publisher: Publisher<Point>,
    begins: SentValues<()>,
    _release: Sender<()>,
}

impl Blocker {
    /// Makes the blocking callback in this group, on a topic of this name.
    pub fn new(case: &Case, group: &CallbackGroup, name: &str) -> Blocker {
        let ((begun, begins), (release, released)) = (value_channel(), value_channel::<()>());
        let block = move |_: Sample<Point>| {
            begun.send(()).unwrap();
            let _ = released.0.recv();
        };
        group.create_subscription_with_callback(&case.topic(name), Qos::default(), block).unwrap();
        let publisher = group.node().create_publisher::<Point>(&case.topic(name), Qos::default()).unwrap();
        Blocker { publisher, begins, _release: release }
    }

    /// Makes the callback run, and returns when it blocks.
    pub fn start(&mut self) {
        self.publisher.publish_copy(&Point { x: 0.0, y: 0.0 }).unwrap();
        self.begins.next();
    }
}

/// Adds a callback that triggers its own next run. The returned function triggers the first run.
pub fn feed_itself(node: &Node, topic: &str, mut each: impl FnMut() + Send + 'static) -> Box<dyn FnOnce()> {
    let publisher = Arc::new(Mutex::new(node.create_publisher::<Point>(topic, Qos::default()).unwrap()));
    let feed = move |publisher: &Mutex<Publisher<Point>>| {
        let mut publisher = publisher.lock().unwrap();
        let loan = publisher.loan().unwrap();
        publisher.publish(loan).unwrap();
    };
    let food = publisher.clone();
    let run = move |_: Sample<Point>| {
        each();
        feed(&food);
    };
    node.create_subscription_with_callback(topic, Qos::default(), run).unwrap();
    assert!(publisher.lock().unwrap().wait_for_subscriptions(1, PATIENCE).unwrap());
    Box::new(move || feed(&publisher))
}
