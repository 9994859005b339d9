//! Tests of a listener, which calls the owners of sources on its thread.

use crate::support::*;
use gantry::{Attachment, Collector, GenericSubscription, Listener, ListenerSource, Node, Qos};
use std::sync::{
    Arc, Mutex,
    mpsc::{Receiver, Sender, channel},
};

tests![
    a_source_is_called_for_samples_before_and_after_it_was_added,
    a_source_that_was_removed_or_replaced_is_not_called,
    a_source_may_drop_the_listener,
];

/// A source that takes from a subscription on the listener's thread.
struct Taking {
    subscription: Option<Mutex<GenericSubscription>>,
    taken: Sender<u8>,
    /// The listener, which the first sample drops.
    listener: Arc<Mutex<Option<Listener<Taking>>>>,
}

impl ListenerSource for Taking {
    fn attach(&self, collector: &mut Collector) -> gantry::Result<Option<Attachment>> {
        self.subscription.as_ref().map_or(Ok(None), |subscription| collector.attach(&mut *subscription.lock().unwrap()))
    }

    fn on_news(&self) {
        let mut subscription = self.subscription.as_ref().unwrap().lock().unwrap();
        while let Some(sample) = subscription.take().unwrap() {
            let _ = self.taken.send(sample.bytes()[0]);
            drop(self.listener.lock().unwrap().take());
        }
    }
}

fn source(node: &Node, topic: &str) -> (Taking, Receiver<u8>) {
    let (taken, receiver) = channel();
    let subscription = node.create_generic_subscription(topic, point(), Qos::default()).unwrap();
    (Taking { subscription: Some(Mutex::new(subscription)), taken, listener: Arc::default() }, receiver)
}

fn a_source_is_called_for_samples_before_and_after_it_was_added() {
    let node = node();
    let topics = ["listened", "listened_too"];
    let mut publishers = topics.map(|topic| node.create_generic_publisher(topic, point(), Qos::default()).unwrap());
    let sources = topics.map(|topic| source(&node, topic));
    publishers[0].publish_copy(&[1; 16]).unwrap();
    let (listener, thread) = Listener::start(Collector::new(&node).unwrap(), "listener").unwrap();
    let [(one, of_one), (two, of_two)] = sources;
    listener.add(1, one);
    listener.add(2, two);
    let received = [of_one, of_two];
    assert_eq!(received[0].recv_timeout(PATIENCE), Ok(1));
    for index in [1, 0, 1] {
        publishers[index].publish_copy(&[2; 16]).unwrap();
        assert_eq!(received[index].recv_timeout(PATIENCE), Ok(2));
    }
    drop(listener);
    thread.join().unwrap();
}

fn a_source_that_was_removed_or_replaced_is_not_called() {
    let node = node();
    let mut publisher = node.create_generic_publisher("left", point(), Qos::default()).unwrap();
    let (listener, thread) = Listener::start(Collector::new(&node).unwrap(), "listener").unwrap();
    let [(removed, of_removed), (replaced, of_replaced), (last, of_last)] = [(); 3].map(|()| source(&node, "left"));
    listener.add(1, removed);
    listener.add(2, replaced);
    listener.remove(1);
    listener.add(2, last);
    assert!(of_removed.recv().is_err() && of_replaced.recv().is_err(), "they are dropped");
    publisher.publish_copy(&[3; 16]).unwrap();
    assert_eq!(of_last.recv_timeout(PATIENCE), Ok(3));
    listener.end();
    thread.join().unwrap();
}

fn a_source_may_drop_the_listener() {
    let node = node();
    let mut publisher = node.create_generic_publisher("last", point(), Qos::default()).unwrap();
    let (listener, thread) = Listener::start(Collector::new(&node).unwrap(), "listener").unwrap();
    let (source, received) = source(&node, "last");
    let kept = source.listener.clone();
    let gone = Taking { subscription: None, taken: source.taken.clone(), listener: Arc::default() };
    listener.add(1, source);
    listener.add(2, gone); // a source that is never called
    *kept.lock().unwrap() = Some(listener);
    publisher.publish_copy(&[4; 16]).unwrap();
    assert_eq!(received.recv_timeout(PATIENCE), Ok(4));
    thread.join().unwrap();
}
