//! The messages in flight to a subscription of the mock, with the faults of the script.
//!
//! The module is pure: times are arguments. A message that departed at `t` counts as received at exactly `t` + latency,
//! and is not delivered before that time. Messages keep the order of arrival, even with different latencies, except
//! with `swap`.

use std::collections::VecDeque;

use super::message::Message;
use perf_worker::run_spec::{MockScript, is_nth};

/// The initial capacity of the queue. Up to this number of messages, the queue does not allocate.
const QUEUE_CAPACITY: usize = 4096;

/// A message that is delivered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Delivered {
    /// The message.
    pub message: Message,
    /// The time of reception, ns of CLOCK_MONOTONIC.
    pub received_ns: i64,
    /// The time at which the message reached the process; `None` if the script does not set it by `transport`.
    pub arrived_ns: Option<i64>,
    /// The time at which the message's bytes were in hand; `None` if the script does not set it by `wake`.
    pub in_hand_ns: Option<i64>,
}

/// The messages in flight to one subscription.
#[derive(Debug)]
pub struct InFlight {
    script: MockScript,
    /// The messages in flight, in the order of delivery.
    queue: VecDeque<Delivered>,
    /// The messages that `swap` holds back until the next message of the same publisher has overtaken them.
    held: Vec<Message>,
    overwritten: u64,
}

impl InFlight {
    /// Creates a queue without messages.
    pub fn new(script: MockScript) -> Self {
        InFlight { script, queue: VecDeque::with_capacity(QUEUE_CAPACITY), held: Vec::new(), overwritten: 0 }
    }

    /// Adds a message that has arrived, with the script's faults.
    pub fn arrived(&mut self, message: Message) {
        if message.is_probe() {
            // Probes are not counted, so the script's faults do not apply to them.
            let received_ns = message.departed_ns + self.script.latency_ns;
            self.queue.push_back(Delivered { message, received_ns, arrived_ns: None, in_hand_ns: None });
            return;
        }
        if self.script.loses(message.id) {
            return;
        }
        if let Some(index) = self.held.iter().position(|held| held.source == message.source) {
            let before = self.held.swap_remove(index);
            self.enqueue(message);
            self.enqueue(before);
        } else if is_nth(message.id, self.script.swap) {
            self.held.push(message);
        } else {
            self.enqueue(message);
        }
    }

    fn enqueue(&mut self, mut message: Message) {
        let received_ns = message.departed_ns + self.script.latency_of_ns(message.id);
        if is_nth(message.id, self.script.corrupt) {
            message.corrupt();
        }
        let MockScript { transport_ns, wake_ns, .. } = self.script;
        let arrived_ns = transport_ns.map(|transport_ns| message.departed_ns + transport_ns);
        let in_hand_ns = wake_ns.map(|wake_ns| arrived_ns.unwrap_or(message.departed_ns) + wake_ns);
        let delivered = Delivered { message, received_ns, arrived_ns, in_hand_ns };
        self.queue.push_back(delivered);
        if is_nth(message.id, self.script.duplicate) && !self.overwrites(message.id) {
            self.queue.push_back(delivered);
        }
    }

    fn overwrites(&self, id: u64) -> bool {
        is_nth(id, self.script.overwrite)
    }

    /// Returns the next message whose time of reception is not after `now_ns`.
    pub fn next(&mut self, now_ns: i64) -> Option<Delivered> {
        while self.next_ns()? <= now_ns {
            let next = self.queue.pop_front()?;
            if next.message.is_probe() || !self.overwrites(next.message.id) {
                return Some(next);
            }
            self.overwritten += 1;
        }
        None
    }

    /// The time of reception of the next message, ns.
    pub fn next_ns(&self) -> Option<i64> {
        self.queue.front().map(|next| next.received_ns)
    }

    /// The number of messages that were overwritten so far.
    pub fn overwritten(&self) -> u64 {
        self.overwritten
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(source: u8, id: u64, departed_ns: i64) -> Message {
        // The time must not be 0, which marks a probe.
        Message::new([source; 16], id, departed_ns + 1, departed_ns, 64, &[7; 4])
    }

    /// Sends ten messages at 100, 200, and so on. Returns the ids and the times of reception of the delivered messages.
    fn receive_ten(script: &str) -> Vec<(u64, i64)> {
        let mut in_flight = InFlight::new(script.parse().unwrap());
        (1..=10).for_each(|id| in_flight.arrived(message(1, id, 100 * id as i64)));
        std::iter::from_fn(|| in_flight.next(i64::MAX)).map(|next| (next.message.id, next.received_ns)).collect()
    }

    #[test]
    fn nothing_is_delivered_before_its_time_and_the_time_is_exact() {
        let mut in_flight = InFlight::new("latency=50ns".parse().unwrap());
        in_flight.arrived(message(1, 1, 100));
        assert_eq!((in_flight.next_ns(), in_flight.next(149)), (Some(150), None));
        assert_eq!(in_flight.next(1000).map(|next| next.received_ns), Some(150));
        assert_eq!((in_flight.next_ns(), in_flight.next(i64::MAX)), (None, None));
    }

    #[test]
    fn each_key_does_what_it_says() {
        let plain: Vec<(u64, i64)> = (1..=10).map(|id| (id, 100 * id as i64 + 5)).collect();
        let ids = |script| receive_ten(script).into_iter().map(|(id, _)| id).collect::<Vec<u64>>();
        assert_eq!(receive_ten("latency=5ns"), plain);
        assert_eq!(ids("lose=4"), [1, 2, 3, 5, 6, 7, 9, 10]);
        assert_eq!(ids("overwrite=5"), [1, 2, 3, 4, 6, 7, 8, 9]);
        assert_eq!(ids("join=7"), [8, 9, 10]);
        assert_eq!(ids("duplicate=5"), [1, 2, 3, 4, 5, 5, 6, 7, 8, 9, 10, 10]);
        assert_eq!(ids("swap=4"), [1, 2, 3, 5, 4, 6, 7, 9, 8, 10]);
        assert_eq!(ids("swap=1"), [2, 1, 4, 3, 6, 5, 8, 7, 10, 9]);
        assert_eq!(ids("swap=10"), [1, 2, 3, 4, 5, 6, 7, 8, 9], "the last one has no successor");
        assert_eq!(ids("duplicate=5,overwrite=5"), [1, 2, 3, 4, 6, 7, 8, 9]);
        assert_eq!(receive_ten("latency=5ns,slow=9:2us,early=8:1ns")[7..], [(8, 799), (9, 2900), (10, 1005)]);
        assert_eq!(receive_ten("latency=5ns,swap=9")[8..], [(10, 1005), (9, 905)]);
    }

    #[test]
    fn an_overwritten_message_is_counted_at_its_time_of_reception() {
        let mut in_flight = InFlight::new("latency=10ns,overwrite=2".parse().unwrap());
        (1..=4).for_each(|id| in_flight.arrived(message(1, id, 100 * id as i64)));
        assert_eq!(in_flight.next(209).map(|next| (next.message.id, in_flight.overwritten())), Some((1, 0)));
        assert_eq!((in_flight.next(209), in_flight.overwritten()), (None, 0));
        assert_eq!(in_flight.next(310).map(|next| (next.message.id, in_flight.overwritten())), Some((3, 1)));
        assert_eq!((in_flight.next(410), in_flight.overwritten()), (None, 2));
    }

    #[test]
    fn no_fault_concerns_a_probe() {
        let mut in_flight = InFlight::new("latency=5ns,lose=1,overwrite=1,duplicate=1,join=9".parse().unwrap());
        in_flight.arrived(Message::new([1; 16], 0, 0, 100, 64, &[]));
        assert_eq!(in_flight.next(105).map(|next| (next.received_ns, next.message.is_probe())), Some((105, true)));
        assert_eq!((in_flight.next(i64::MAX), in_flight.overwritten()), (None, 0));
    }

    #[test]
    fn a_swap_is_within_one_publisher() {
        let mut in_flight = InFlight::new("latency=0ns,swap=2".parse().unwrap());
        for (source, id) in [(1, 2), (2, 2), (2, 3), (1, 3)] {
            in_flight.arrived(message(source, id, 1));
        }
        let order: Vec<(u8, u64)> =
            std::iter::from_fn(|| in_flight.next(1)).map(|next| (next.message.source[0], next.message.id)).collect();
        assert_eq!(order, [(2, 3), (2, 2), (1, 3), (1, 2)]);
    }

    #[test]
    fn a_corrupt_payload_differs_in_a_byte_that_is_always_checked() {
        let mut in_flight = InFlight::new("corrupt=2".parse().unwrap());
        [1, 2].into_iter().for_each(|id| in_flight.arrived(message(1, id, 1)));
        let payloads: Vec<Vec<u8>> =
            std::iter::from_fn(|| in_flight.next(i64::MAX)).map(|next| next.message.payload().to_vec()).collect();
        assert_eq!(payloads, [[7, 7, 7, 7], [248, 7, 7, 7]]);
    }
}
