//! Tests with a wall clock that is set while a publisher exists, as on boards without a battery-backed clock. Small
//! messages must still travel inline.

use crate::support::*;
use gantry_shm::{Publisher, Qos, SourceTime, Subscription};

tests![
    a_clock_that_is_set_once_ends_no_inline_message,
    a_clock_that_is_set_again_delays_inline_messages_by_a_ring,
    times_of_two_clocks_travel_inline_in_turns,
];

const BYTES: usize = 64;
const HOUR_NS: i64 = 3_600_000_000_000;
const DEPTH: u64 = 8;
/// A number of samples that is larger than the number of entries in the publisher's ring.
const RING: u64 = 64;

/// Publishes message `number` as if the wall clock had been set forward by `step_ns`. Returns the wall time of the
/// message.
fn send_at(publisher: &mut Publisher, number: u64, step_ns: i64) -> u64 {
    let mut time = SourceTime::now();
    time.wall_ns = time.wall_ns.wrapping_add_signed(step_ns);
    let mut loan = publisher.loan(BYTES).unwrap();
    fill(loan.bytes_mut(), number);
    assert_eq!(publisher.publish(loan, time).unwrap(), number);
    time.wall_ns
}

/// Takes message `number`, and checks its wall time. Returns true if the message is inline.
#[track_caller]
fn take(subscription: &mut Subscription, number: u64, wall_ns: u64) -> bool {
    let sample = subscription.take().unwrap().unwrap();
    assert_eq!((check(sample.bytes()), sample.info().source_wall_time_ns), (number, wall_ns));
    sample.is_inline()
}

/// Sends and takes messages, each with one of these steps of the clock. Returns the numbers of the inline messages.
fn inline(publisher: &mut Publisher, subscription: &mut Subscription, steps: impl Iterator<Item = i64>) -> Vec<u64> {
    let of_step = |(number, step_ns)| {
        let wall_ns = send_at(publisher, number, step_ns);
        take(subscription, number, wall_ns).then_some(number)
    };
    (1..).zip(steps).filter_map(of_step).collect()
}

fn endpoints(root: &Root) -> (Publisher, Subscription) {
    let participant = root.join();
    let qos = Qos::default().keep_last(DEPTH as u32);
    let mut publisher = publisher(&participant, BYTES, qos);
    let mut subscription = subscription(&participant, BYTES, qos);
    match_up(&mut publisher, &mut subscription);
    (publisher, subscription)
}

fn a_clock_that_is_set_once_ends_no_inline_message() {
    let root = Root::new();
    let (mut publisher, mut subscription) = endpoints(&root);
    // Half of the messages are sent before the clock is set and taken after it; they must keep their times.
    let steps = (1..=DEPTH).map(|number| if number <= DEPTH / 2 { 0 } else { 30 * 365 * 24 * HOUR_NS });
    let times: Vec<u64> = (1..).zip(steps).map(|(number, step_ns)| send_at(&mut publisher, number, step_ns)).collect();
    for (number, &wall_ns) in (1..).zip(&times) {
        assert!(take(&mut subscription, number, wall_ns), "message {number} is not inline");
    }
}

fn a_clock_that_is_set_again_delays_inline_messages_by_a_ring() {
    let root = Root::new();
    let (mut publisher, mut subscription) = endpoints(&root);
    let steps = [0, 3, -5].into_iter().flat_map(|hours| (0..2 * RING).map(move |_| hours * HOUR_NS));
    let inline = inline(&mut publisher, &mut subscription, steps);
    let (before, after) = inline.split_at(4 * RING as usize);
    assert_eq!(before, (1..=4 * RING).collect::<Vec<_>>(), "the clock was set once");
    let first = after[0];
    assert!((2..RING).contains(&(first - 4 * RING)), "inline from {first} on");
    assert_eq!(after, (first..=6 * RING).collect::<Vec<_>>(), "the clock was set twice");
}

fn times_of_two_clocks_travel_inline_in_turns() {
    let root = Root::new();
    let (mut publisher, mut subscription) = endpoints(&root);
    let steps = (0..4 * RING).map(|index| (index % 2) as i64 * -7 * HOUR_NS);
    assert_eq!(inline(&mut publisher, &mut subscription, steps).len() as u64, 4 * RING);
}
