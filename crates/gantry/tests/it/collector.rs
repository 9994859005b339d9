//! Tests of the collector: it reports the sources of a binding that have values, and its bell wakes it.

use crate::support::*;
use gantry::{Collector, GuardCondition, Node, Qos, Waitable};
use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering::SeqCst},
    },
    task::{Wake, Waker},
    thread,
    time::Instant,
};

tests![
    sources_with_samples_are_named,
    a_bell_ends_a_wait,
    a_source_may_be_dropped_before_it_is_detached,
    a_source_of_another_domain_is_refused,
];

/// Waits for news, and returns the bits that are collected within [`PATIENCE`].
fn waited_for(collector: &mut Collector) -> Vec<usize> {
    let (deadline, mut bits) = (Instant::now() + PATIENCE, Vec::new());
    while bits.is_empty() && Instant::now() < deadline {
        collector.wait(Some(deadline), || false).unwrap();
        collector.collect(|bit| bits.push(bit));
    }
    bits
}

fn sources_with_samples_are_named() {
    let node = node();
    let mut publishers =
        ["one", "two"].map(|topic| node.create_generic_publisher(topic, point(), Qos::default()).unwrap());
    let mut collector = Collector::new(&node).unwrap();
    let mut sources =
        ["one", "two"].map(|topic| node.create_generic_subscription(topic, point(), Qos::default()).unwrap());
    let bits = sources.each_mut().map(|source| collector.attach(source).unwrap().unwrap().bit());
    assert!(bits.iter().all(|&bit| bit < Collector::BITS) && bits[0] != bits[1]);
    assert!(collector.attach(&mut GuardCondition::new()).unwrap().is_none(), "it gets no samples");
    collector.collect(|_| {});
    for index in [1, 0, 1] {
        publishers[index].publish_copy(&[0; 16]).unwrap();
        assert_eq!(waited_for(&mut collector), [bits[index]]);
        assert!(sources[index].take().unwrap().is_some());
    }
}

struct Ringing {
    is_set: AtomicBool,
    bell: gantry::Bell,
}

impl Wake for Ringing {
    fn wake(self: Arc<Self>) {
        self.is_set.store(true, SeqCst);
        self.bell.ring();
    }
}

fn a_bell_ends_a_wait() {
    let (mut guard, node) = (GuardCondition::new(), node());
    let mut collector = Collector::new(&node).unwrap();
    let ringing = Arc::new(Ringing { is_set: AtomicBool::new(false), bell: collector.bell() });
    guard.set_waker(Some(Waker::from(ringing.clone())));
    for _ in 0..100 {
        let trigger = guard.clone();
        let thread = thread::spawn(move || trigger.trigger());
        while !ringing.is_set.swap(false, SeqCst) {
            collector.wait(None, || ringing.is_set.load(SeqCst)).unwrap();
        }
        assert!(guard.take());
        thread.join().unwrap();
    }
    drop((collector, node));
    ringing.bell.ring(); // no waiter is left to be woken
}

fn a_source_may_be_dropped_before_it_is_detached() {
    let node = node();
    let mut publisher = node.create_generic_publisher("dropped", point(), Qos::default()).unwrap();
    let mut collector = Collector::new(&node).unwrap();
    let subscribe = || node.create_generic_subscription("dropped", point(), Qos::default()).unwrap();
    let mut source = subscribe();
    let attachment = collector.attach(&mut source).unwrap().unwrap();
    drop(source);
    collector.detach(attachment);
    let mut another = subscribe();
    let attachment = collector.attach(&mut another).unwrap().unwrap();
    assert!(!another.is_ready().unwrap());
    collector.collect(|_| {});
    publisher.publish_copy(&[0; 16]).unwrap();
    assert_eq!(waited_for(&mut collector), [attachment.bit()]);
    collector.detach(attachment);
    publisher.publish_copy(&[0; 16]).unwrap();
    collector.collect(|bit| panic!("bit {bit} of a detached source"));
}

fn a_source_of_another_domain_is_refused() {
    let mut collector = Collector::new(&node()).unwrap();
    let far = Node::builder("far").domain_id(71).build().unwrap();
    let mut source = far.create_generic_subscription("far", point(), Qos::default()).unwrap();
    assert!(collector.attach(&mut source).is_err());
}
