//! Tests of spins of a single node.

use crate::support::*;
use gantry::*;
use std::{
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering::*},
    },
    time::Duration,
};

tests![a_node_spins_without_an_executor];

fn a_node_spins_without_an_executor() {
    let (node, count) = (node(), Arc::new(AtomicUsize::new(0)));
    let counted = count.clone();
    node.create_subscription_with_callback::<Point>("spin_node", 10, move |_| {
        counted.fetch_add(1, SeqCst);
    })
    .unwrap();
    let mut publisher = node.create_publisher::<Point>("spin_node", 10).unwrap();
    let mut publish = |messages| {
        for _ in 0..messages {
            publisher.publish_copy(&Point { x: 0.0, y: 0.0 }).unwrap();
        }
    };
    publish(2);
    assert_eq!((spin_some(&node).unwrap(), count.load(SeqCst)), (1, 1));
    publish(2);
    assert_eq!((spin_all(&node, Duration::ZERO).unwrap(), count.load(SeqCst)), (3, 4));
    let mut subscription = node.create_subscription::<Point>("spin_node", 10).unwrap();
    let late = spin_until_complete(&node, subscription.take_async(), Duration::from_millis(5)).unwrap();
    assert!(late.is_none());
    publish(1);
    let sample = spin_until_complete(&node, subscription.take_async(), PATIENCE).unwrap();
    assert!(sample.unwrap().is_ok());
    let mut executor = SingleThreadedExecutor::new();
    executor.add_node(&node).unwrap();
    assert!(spin(&node).unwrap_err().to_string().contains("/tester is already in an executor"));
}
