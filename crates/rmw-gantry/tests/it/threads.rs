//! Test with threads that use one context at the same time: they publish, take, wait, set callbacks, borrow messages,
//! and create and destroy objects.

use crate::ros::*;
use rmw_abi::bindings::*;
use std::{
    ffi::c_void,
    ptr::{null, null_mut},
    sync::{Arc, mpsc},
    thread,
    time::{Duration, Instant},
};
use test_support::{PATIENCE, tests};

tests![all_threads_of_a_context_go_on_and_end];

const RUN: Duration = Duration::from_millis(2500);
const SHORT: rmw_time_t = rmw_time_t { sec: 0, nsec: 1_000_000 };
const TOPIC: &std::ffi::CStr = c"/stress";

/// The objects that all threads share.
struct World {
    ros: Ros,
    publisher: Shared<rmw_publisher_t>,
    subscription: Shared<rmw_subscription_t>,
    guard_condition: Shared<rmw_guard_condition_t>,
}

/// The action that a thread repeats. The number counts the repetitions.
type Work = fn(&World, u64);

impl World {
    fn wait_set(&self) -> *mut rmw_wait_set_t {
        // SAFETY: this library made the context.
        let wait_set = unsafe { rmw_create_wait_set(self.ros.context(), 0) };
        assert!(!wait_set.is_null());
        wait_set
    }

    /// Waits for a millisecond, with a new wait set.
    fn wait(&self, subscriptions: &[*mut rmw_subscription_t], guard_conditions: &[*const rmw_guard_condition_t]) {
        let wait_set = self.wait_set();
        for _ in 0..5 {
            let (code, _) = wait(wait_set, subscriptions, guard_conditions, &mut [], SHORT);
            assert!(code == RMW_RET_OK || code == RMW_RET_TIMEOUT, "{code}");
            for subscription in subscriptions {
                let _ = take(*subscription);
            }
        }
        // SAFETY: this library made the wait set, which is not used again.
        assert_eq!(unsafe { rmw_destroy_wait_set(wait_set) }, RMW_RET_OK);
    }

    fn publish_some(&self, round: u64) {
        (0..64).for_each(|number| publish(self.publisher.get(), Point { x: 1.0, number: 64 * round + number }));
        thread::yield_now();
    }

    fn take_from_the_shared(&self, _: u64) {
        self.wait(&[self.subscription.get()], &[self.guard_condition.get()]);
    }

    fn trigger(&self, _: u64) {
        // SAFETY: this library made the guard condition.
        assert_eq!(unsafe { rmw_trigger_guard_condition(self.guard_condition.get()) }, RMW_RET_OK);
        thread::yield_now();
    }

    fn come_and_go(&self, _: u64) {
        let subscription = self.ros.subscription(TOPIC, &rmw_qos_profile_t { depth: 5, ..DEFAULT_QOS });
        // SAFETY: this library made the context.
        let own = unsafe { rmw_create_guard_condition(self.ros.context()) };
        self.wait(&[subscription], &[own, self.guard_condition.get()]);
        // SAFETY: this library made the guard condition, which is not used again; the same holds below.
        assert_eq!(unsafe { rmw_destroy_guard_condition(own) }, RMW_RET_OK);
        // SAFETY: as above.
        assert_eq!(unsafe { rmw_destroy_subscription(self.ros.node, subscription) }, RMW_RET_OK);
    }

    fn set_callbacks(&self, _: u64) {
        unsafe extern "C" fn take_all(subscription: *const c_void, _: usize) {
            while take(subscription.cast()).is_some() {}
        }
        unsafe extern "C" fn ignore(_: *const c_void, _: usize) {}
        let subscription = self.ros.subscription(TOPIC, &rmw_qos_profile_t { depth: 5, ..DEFAULT_QOS });
        let callbacks: [rmw_event_callback_t; 4] = [Some(ignore), Some(take_all), None, Some(take_all)];
        for callback in callbacks {
            let user_data = if callback.is_some() { subscription.cast_const().cast() } else { null() };
            // SAFETY: this library made the subscription, which lives longer than its callback.
            let code = unsafe { rmw_subscription_set_on_new_message_callback(subscription, callback, user_data) };
            assert_eq!(code, RMW_RET_OK);
            self.publish_some(0);
        }
        // SAFETY: as in `come_and_go`.
        assert_eq!(unsafe { rmw_destroy_subscription(self.ros.node, subscription) }, RMW_RET_OK);
    }

    fn nodes_come_and_go(&self, _: u64) {
        // SAFETY: this library made the context, and both strings end with 0.
        let node = unsafe { rmw_create_node(self.ros.context(), c"other".as_ptr(), c"/".as_ptr()) };
        // SAFETY: this library made the node.
        self.wait(&[], &[unsafe { rmw_node_get_graph_guard_condition(node) }]);
        // SAFETY: as in `come_and_go`.
        assert_eq!(unsafe { rmw_destroy_node(node) }, RMW_RET_OK);
    }

    fn borrow(&self, round: u64) {
        let (publisher, mut message) = (self.publisher.get(), null_mut());
        // SAFETY: this library made the publisher; it has this type, and the last pointer is an output.
        assert_eq!(unsafe { rmw_borrow_loaned_message(publisher, point_type(), &raw mut message) }, RMW_RET_OK);
        let code = match round % 2 {
            // SAFETY: the message was borrowed from this publisher.
            0 => unsafe { rmw_publish_loaned_message(publisher, message, null_mut()) },
            // SAFETY: as above.
            _ => unsafe { rmw_return_loaned_message_from_publisher(publisher, message) },
        };
        assert_eq!(code, RMW_RET_OK);
        let (subscription, mut loan, mut taken) = (self.subscription.get(), null_mut(), false);
        // SAFETY: this library made the subscription; the other pointers are outputs.
        let code = unsafe { rmw_take_loaned_message(subscription, &raw mut loan, &raw mut taken, null_mut()) };
        assert_eq!(code, RMW_RET_OK);
        if taken {
            // SAFETY: the message is on loan from this subscription.
            assert_eq!(unsafe { rmw_return_loaned_message_from_subscription(subscription, loan) }, RMW_RET_OK);
        }
    }
}

fn all_threads_of_a_context_go_on_and_end() {
    let ros = Ros::new();
    // SAFETY: this library made the context.
    let guard_condition = Shared::new(unsafe { rmw_create_guard_condition(ros.context()) });
    let publisher = Shared::new(ros.publisher(TOPIC, &DEFAULT_QOS));
    let subscription = Shared::new(ros.subscription(TOPIC, &DEFAULT_QOS));
    let world = Arc::new(World { ros, publisher, subscription, guard_condition });
    let works: [(&str, Work); 9] = [
        ("publish", World::publish_some),
        ("publish too", World::publish_some),
        ("take", World::take_from_the_shared),
        ("take too", World::take_from_the_shared),
        ("trigger", World::trigger),
        ("come and go", World::come_and_go),
        ("set callbacks", World::set_callbacks),
        ("nodes", World::nodes_come_and_go),
        ("borrow", World::borrow),
    ];
    let (sender, ended) = mpsc::channel();
    let end = Instant::now() + RUN;
    let threads = works.map(|(name, work)| {
        let (world, sender) = (world.clone(), sender.clone());
        thread::spawn(move || {
            let mut rounds = 0;
            while Instant::now() < end {
                work(&world, rounds);
                rounds += 1;
            }
            drop(world);
            sender.send((name, rounds)).unwrap();
        })
    });
    drop(sender);
    let mut running = works.map(|(name, _)| name).to_vec();
    while !running.is_empty() {
        let (name, rounds) = ended.recv_timeout(PATIENCE).unwrap_or_else(|error| panic!("{error}: {running:?}"));
        assert!(rounds > 0, "{name} did nothing");
        running.retain(|other| *other != name);
    }
    threads.into_iter().for_each(|thread| thread.join().unwrap());
    let World { ros, publisher, subscription, guard_condition } = Arc::into_inner(world).unwrap();
    // SAFETY: this library made the guard condition, which is not used again.
    assert_eq!(unsafe { rmw_destroy_guard_condition(guard_condition.get()) }, RMW_RET_OK);
    ros.end(&[publisher.get()], &[subscription.get()]);
}
