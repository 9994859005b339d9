//! The order in which several threads run callbacks: by priority, then in the order of arrival, and at most one
//! callback of a mutually exclusive group at a time.
//!
//! A *lane* holds the ready callbacks of a mutually exclusive group, or one callback of a reentrant group. Invariants:
//! - A lane is in `runnable`, under the arrival number of its first callback, if it has a ready callback and none of
//!   its callbacks runs. So the callbacks that wait for a busy group cost nothing.
//! - A ready callback that must wait for another callback of its group keeps its position in the order: it runs
//!   before all callbacks that arrived later.

use crate::{
    callback::{CallbackGroupType, RunOutcome},
    executor::{
        ready_queue::{ReadyQueue, Running, Work},
        worker_pool::Order,
    },
};
use std::{
    collections::{BTreeMap, VecDeque},
    sync::atomic::Ordering::Relaxed,
};

/// The ready callbacks of an executor.
#[derive(Default)]
pub(super) struct Lanes {
    pub(super) ready_queue: ReadyQueue,
    /// The ready callbacks of each lane. Each entry is an arrival number and a callback index.
    lanes: Vec<VecDeque<(u64, usize)>>,
    /// The lanes with a callback that may run, by the lane's priority level and this callback's arrival number.
    runnable: BTreeMap<(usize, u64), usize>,
    /// The number of callbacks that became ready so far.
    arrivals: u64,
    /// The callbacks that one gathering finds; empty between gatherings. The list is kept to reuse its memory.
    found: Vec<usize>,
}

impl Lanes {
    /// Makes a lane runnable if it has a ready callback and none of its callbacks runs.
    fn enter(&mut self, lane: usize) {
        let Some(&(arrival, index)) = self.lanes[lane].front() else { return };
        let registered = self.ready_queue.registered(index);
        if !registered.callback.group.is_busy.load(Relaxed) {
            self.runnable.insert((registered.level, arrival), lane);
        }
    }

    /// Takes the next callback that may run from its lane, and removes this lane from `runnable`. Returns the
    /// callback's index.
    fn take_next(&mut self) -> Option<usize> {
        let (_, lane) = self.runnable.pop_first()?;
        self.lanes[lane].pop_front().map(|(_, index)| index)
    }

    /// Runs the next callback that has a value, on this thread.
    pub(super) fn step(&mut self) -> bool {
        while let Some(index) = self.take_next() {
            self.enter(self.ready_queue.registered(index).lane);
            if self.ready_queue.run(index, |callback| callback.run()) {
                return true;
            }
        }
        false
    }
}

impl Order for Lanes {
    fn ready_queue(&mut self) -> &mut ReadyQueue {
        &mut self.ready_queue
    }

    fn gather(&mut self) {
        if self.ready_queue.gather() {
            // The list of callbacks changed, so all callbacks are pending again.
            self.lanes = vec![VecDeque::new(); self.ready_queue.lanes()];
            self.runnable.clear();
        }
        let mut found = std::mem::take(&mut self.found);
        self.ready_queue.take_ready(&mut found);
        for index in found.drain(..) {
            let lane = self.ready_queue.registered(index).lane;
            self.lanes[lane].push_back((self.arrivals, index));
            self.arrivals += 1;
            if self.lanes[lane].len() == 1 {
                self.enter(lane);
            }
        }
        self.found = found;
    }

    fn has_more(&self) -> bool {
        !self.runnable.is_empty()
    }

    fn start(&mut self) -> Option<Running> {
        let index = self.take_next()?;
        let running = self.ready_queue.start(index, Work::Take);
        let group = &running.callback.group;
        group.is_busy.store(group.kind == CallbackGroupType::MutuallyExclusive, Relaxed);
        Some(running)
    }

    fn finish(&mut self, running: Running, outcome: RunOutcome) {
        let group = running.callback.group.clone();
        group.is_busy.store(false, Relaxed);
        self.ready_queue.finish(running, outcome);
        if group.kind == CallbackGroupType::MutuallyExclusive
            && let Some(lane) = self.ready_queue.lane_of(&group)
        {
            self.enter(lane);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{CallbackGroup, Node, PlainMessage, Publisher, Qos, executor::members::Member};
    use std::{collections::HashMap, time::Duration};
    use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout};

    #[derive(Clone, Copy, FromBytes, IntoBytes, KnownLayout, Immutable)]
    #[repr(C)]
    struct Count(u64);

    impl PlainMessage for Count {
        const TYPE_NAME: &'static str = "test_msgs/msg/Count";
        const DEFINITION: &'static str = "uint64 count";
    }

    /// The setting of a test: a node, its publishers by topic, and the lanes of callbacks that take from these topics.
    struct Setting {
        node: Node,
        publishers: HashMap<&'static str, Publisher<Count>>,
        lanes: Lanes,
    }

    impl Setting {
        fn new() -> Setting {
            let node = Node::builder("lanes_tester").domain_id(crate::MAX_DOMAIN_ID).build().unwrap();
            let mut lanes = Lanes::default();
            lanes.ready_queue.add(Member::Node(node.clone()), None).unwrap();
            Setting { node, publishers: HashMap::new(), lanes }
        }

        fn hear(&mut self, test: &str, name: &'static str, group: &CallbackGroup) {
            let topic = format!("/lanes_tests/process_{}/{test}/{name}", std::process::id());
            let subscription = self.node.create_subscription::<Count>(&topic, Qos::default()).unwrap();
            group.add_callback(subscription, |_, _| ());
            let mut publisher = self.node.create_publisher::<Count>(&topic, Qos::default()).unwrap();
            assert!(publisher.wait_for_subscriptions(1, Duration::from_secs(60)).unwrap());
            self.publishers.insert(name, publisher);
        }

        fn publish(&mut self, name: &str) {
            self.publishers.get_mut(name).unwrap().publish_copy(&Count(1)).unwrap();
        }

        /// The number of topics for which the collector reports news. Such news would wake a sleeping thread.
        fn news(&mut self) -> usize {
            let mut news = 0;
            self.lanes.ready_queue.collector.as_mut().unwrap().collect(|_| news += 1);
            news
        }

        fn run_all(&mut self) -> usize {
            let mut ran = 0;
            loop {
                self.lanes.gather();
                if !self.lanes.step() {
                    return ran;
                }
                ran += 1;
            }
        }
    }

    #[test]
    fn messages_of_a_busy_group_wake_no_thread_after_the_second_and_none_is_lost() {
        let mut setting = Setting::new();
        let exclusive = setting.node.create_callback_group(CallbackGroupType::MutuallyExclusive);
        ["a", "b"].into_iter().for_each(|name| setting.hear("busy", name, &exclusive));
        for _ in 0..3 {
            assert_eq!(setting.run_all(), 0);
            setting.publish("a");
            setting.lanes.gather();
            let running = setting.lanes.start().unwrap();
            assert_eq!(running.callback.run(), RunOutcome::Last);
            for name in ["a", "b"] {
                (0..2).for_each(|_| {
                    setting.publish(name);
                    setting.lanes.gather();
                    assert!(setting.lanes.start().is_none(), "its group is busy");
                });
                setting.publish(name);
                assert_eq!(setting.news(), 0);
            }
            setting.lanes.finish(running, RunOutcome::Last);
            assert_eq!(setting.run_all(), 6);
            setting.publish("b");
            assert_eq!(setting.run_all(), 1, "they are heard again");
        }
    }

    #[test]
    fn an_urgent_group_goes_first_and_a_busy_one_holds_up_no_other() {
        let mut setting = Setting::new();
        let group = |setting: &Setting| setting.node.create_callback_group(CallbackGroupType::MutuallyExclusive);
        let [usual, other, urgent] = [0, 0, 1].map(|priority| group(&setting).with_priority(priority));
        let groups = [("a", &usual), ("b", &usual), ("c", &other), ("d", &urgent)];
        groups.into_iter().for_each(|(name, group)| setting.hear("urgent", name, group));
        assert_eq!(setting.run_all(), 0);
        groups.into_iter().for_each(|(name, _)| setting.publish(name));
        setting.lanes.gather();
        let mut started = Vec::new();
        while let Some(running) = setting.lanes.start() {
            started.push(running);
        }
        let indices = |started: &[Running]| -> Vec<usize> {
            started.iter().map(|running| running.callback.index.load(Relaxed)).collect()
        };
        assert_eq!(indices(&started), [3, 0, 2]);
        assert!(!setting.lanes.has_more());
        let first = started.remove(1);
        setting.lanes.finish(first, RunOutcome::More);
        setting.lanes.gather();
        assert_eq!(setting.lanes.start().map(|running| running.callback.index.load(Relaxed)), Some(1));
        assert!(setting.lanes.start().is_none(), "the group is busy again");
    }
}
