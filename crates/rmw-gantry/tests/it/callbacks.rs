//! Tests of the callbacks for new messages and events.

use crate::{filters::set_filter, ros::*};
use rmw_abi::bindings::*;
use std::{
    ffi::c_void,
    ptr::null,
    sync::{Condvar, Mutex, MutexGuard, PoisonError},
    time::Duration,
};
use test_support::{eventually, tests};

tests![
    a_callback_is_told_of_each_message_once,
    a_callback_is_told_of_messages_that_pass_a_filter,
    a_callback_is_told_of_all_of_a_long_history,
    a_callback_of_an_event_is_told_of_a_match,
    the_listener_takes_no_signal_of_the_program,
];

/// Sums up the numbers of messages that a callback was called with.
#[derive(Default)]
struct Counter {
    news: Mutex<usize>,
    changed: Condvar,
}

unsafe extern "C" fn count(user_data: *const c_void, number_of_events: usize) {
    // SAFETY: the test passed this counter, which lives until the callback is removed.
    let counter = unsafe { &*user_data.cast::<Counter>() };
    *counter.lock() += number_of_events;
    counter.changed.notify_all();
}

impl Counter {
    fn lock(&self) -> MutexGuard<'_, usize> {
        self.news.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits until the sum is greater than `news`.
    fn wait_for_more_than(&self, news: usize) {
        let limit = Duration::from_secs(TIME_LIMIT.sec);
        let waited = self.changed.wait_timeout_while(self.lock(), limit, |counted| *counted <= news);
        assert!(waited.is_ok_and(|(counted, _)| *counted > news), "no call after message {news}");
    }

    /// Waits until the sum is `news`, and checks that it does not increase further.
    fn wait_for(&self, news: usize) {
        let limit = Duration::from_secs(TIME_LIMIT.sec);
        let waited = self.changed.wait_timeout_while(self.lock(), limit, |counted| *counted < news);
        assert_eq!(waited.map(|(counted, _)| *counted).ok(), Some(news));
    }
}

fn set(subscription: *mut rmw_subscription_t, callback: rmw_event_callback_t, counter: &Counter) {
    let user_data = std::ptr::from_ref(counter).cast();
    // SAFETY: this library made the subscription; the counter stays until the callback is removed.
    let code = unsafe { rmw_subscription_set_on_new_message_callback(subscription, callback, user_data) };
    assert_eq!(code, RMW_RET_OK);
}

fn a_callback_is_told_of_each_message_once() {
    let ros = Ros::new();
    let publisher = ros.publisher(c"/callback", &DEFAULT_QOS);
    let subscription = ros.subscription(c"/callback", &DEFAULT_QOS);
    let counter = Counter::default();
    // Three messages arrive before the callback is set, and one of them is taken.
    (0..3).for_each(|number| publish(publisher, Point { x: 0.0, number }));
    assert_eq!(take(subscription).map(|(point, _)| point.number), Some(0));
    set(subscription, Some(count), &counter);
    assert_eq!(*counter.lock(), 2, "the thread that sets the callback reports them");
    (3..6).for_each(|number| publish(publisher, Point { x: 0.0, number }));
    counter.wait_for(5);
    assert_eq!(take_numbers(subscription), [1, 2, 3, 4, 5]);
    publish(publisher, Point { x: 0.0, number: 6 });
    counter.wait_for(6);
    set(subscription, None, &counter);
    publish(publisher, Point { x: 0.0, number: 7 });
    assert_eq!(take_numbers(subscription), [6, 7]);
    // The seventh message was taken while no callback was set, so no call counts it.
    set(subscription, Some(count), &counter);
    publish(publisher, Point { x: 0.0, number: 8 });
    counter.wait_for(7);
    set(subscription, None, &counter);
    ros.end(&[publisher], &[subscription]);
}

fn a_callback_is_told_of_messages_that_pass_a_filter() {
    let ros = Ros::new();
    let publisher = ros.publisher(c"/filtered_callback", &DEFAULT_QOS);
    let subscription = ros.subscription(c"/filtered_callback", &DEFAULT_QOS);
    let counter = Counter::default();
    (0..4).for_each(|number| publish(publisher, Point { x: 0.0, number }));
    assert_eq!(set_filter(subscription, c"number > 1", &[]), RMW_RET_OK);
    set(subscription, Some(count), &counter);
    assert_eq!(*counter.lock(), 2, "the thread that sets the callback reports them");
    assert_eq!(take_numbers(subscription), [2, 3]);
    for number in [0, 4, 1, 5] {
        publish(publisher, Point { x: 0.0, number });
    }
    counter.wait_for(4);
    assert_eq!(take_numbers(subscription), [4, 5]);
    // The callback is called for messages that pass the new filter, although other messages did not pass it.
    (6..10).for_each(|number| publish(publisher, Point { x: 0.0, number }));
    counter.wait_for(8);
    assert_eq!(set_filter(subscription, c"number > 8", &[]), RMW_RET_OK);
    assert_eq!(take_numbers(subscription), [9]);
    publish(publisher, Point { x: 0.0, number: 10 });
    counter.wait_for(9);
    assert_eq!(take_numbers(subscription), [10]);
    set(subscription, None, &counter);
    ros.end(&[publisher], &[subscription]);
}

/// A KEEP_ALL subscription with a filter keeps some messages, and leaves further ones in the history. When it has room
/// for these, no new arrival calls the callback for them.
fn a_callback_is_told_of_all_of_a_long_history() {
    let all = rmw_qos_profile_t { history: RMW_QOS_POLICY_HISTORY_KEEP_ALL, ..DEFAULT_QOS };
    let ros = Ros::new();
    let (publisher, subscription) = (ros.publisher(c"/long", &all), ros.subscription(c"/long", &all));
    assert_eq!(set_filter(subscription, c"x = 0", &[]), RMW_RET_OK);
    let counter = Counter::default();
    set(subscription, Some(count), &counter);
    const SENT: u64 = 600;
    (0..SENT).for_each(|number| publish(publisher, Point { x: (number % 2) as f64, number }));
    let expected: Vec<u64> = (0..SENT).filter(|number| number % 2 == 0).collect();
    let mut numbers = Vec::new();
    // The loop takes one message for each one that the callback was called for, like an events executor.
    while numbers.len() < expected.len() {
        counter.wait_for_more_than(numbers.len());
        let reported = *counter.lock();
        while numbers.len() < reported {
            numbers.extend(take(subscription).map(|(point, _)| point.number));
        }
    }
    assert_eq!(numbers, expected);
    set(subscription, None, &counter);
    ros.end(&[publisher], &[subscription]);
}

fn a_callback_of_an_event_is_told_of_a_match() {
    let ros = Ros::new();
    let publisher = ros.publisher(c"/match_callback", &DEFAULT_QOS);
    // SAFETY: all bits 0 are a valid event, which is not initialized.
    let mut event: rmw_event_t = unsafe { std::mem::zeroed() };
    // SAFETY: the event is new, and this library made the publisher.
    let code = unsafe { rmw_publisher_event_init(&raw mut event, publisher, RMW_EVENT_PUBLICATION_MATCHED) };
    assert_eq!(code, RMW_RET_OK);
    let counter = Counter::default();
    let user_data = std::ptr::from_ref(&counter).cast();
    // SAFETY: this library initialized the event; the counter stays until the callback is removed.
    assert_eq!(unsafe { rmw_event_set_callback(&raw mut event, Some(count), user_data) }, RMW_RET_OK);
    let subscription = ros.subscription(c"/match_callback", &DEFAULT_QOS);
    counter.wait_for(1);
    // SAFETY: as above.
    assert_eq!(unsafe { rmw_event_set_callback(&raw mut event, None, null()) }, RMW_RET_OK);
    ros.end(&[publisher], &[subscription]);
}

/// A signal handler of the program may run only on a thread that the program started.
fn the_listener_takes_no_signal_of_the_program() {
    let ros = Ros::new();
    let subscription = ros.subscription(c"/signals", &DEFAULT_QOS);
    let counter = Counter::default();
    set(subscription, Some(count), &counter);
    let mut listeners: Vec<String> = Vec::new();
    eventually("the thread has its name", || {
        let threads = std::fs::read_dir("/proc/self/task").into_iter().flatten().flatten();
        let statuses = threads.filter_map(|thread| std::fs::read_to_string(thread.path().join("status")).ok());
        listeners = statuses.filter(|status| status.starts_with("Name:\trmw-listener")).collect();
        !listeners.is_empty()
    });
    for status in listeners {
        let blocked = status.lines().find_map(|line| line.strip_prefix("SigBlk:\t"));
        let blocked = blocked.and_then(|mask| u64::from_str_radix(mask, 16).ok()).unwrap_or(0);
        let is_blocked = |signal: i32| blocked & 1 << (signal - 1) != 0;
        assert!([libc::SIGINT, libc::SIGTERM, libc::SIGALRM].into_iter().all(is_blocked), "{blocked:x}");
    }
    set(subscription, None, &counter);
    ros.end(&[], &[subscription]);
}
