//! Tests of callback groups. Callbacks wait for each other at a barrier to prove that they run at the same time, so the
//! result does not depend on timing.

use super::*;
use std::{
    panic::{AssertUnwindSafe, catch_unwind, resume_unwind},
    sync::{
        Condvar,
        atomic::{AtomicUsize, Ordering::*},
    },
};

behaviours! {
    with_a_far_end: [callbacks_of_an_exclusive_group_never_overlap, callbacks_of_a_reentrant_group_run_at_once],
    alone: [exclusive_groups_run_beside_each_other, a_spin_until_uses_all_threads, a_callback_never_overlaps_itself, the_group_of_a_removed_callback_goes_on],
}

const NAMES: [&str; 3] = ["a", "b", "c"];

/// Counts the callbacks that run at the same time.
#[derive(Default)]
struct Inside {
    count: AtomicUsize,
    most: AtomicUsize,
}

impl Inside {
    /// Stays in the callback for a while, so that other callbacks have a chance to run meanwhile.
    fn stay(&self) {
        self.most.fetch_max(self.count.fetch_add(1, SeqCst) + 1, SeqCst);
        (0..20).for_each(|_| std::thread::yield_now());
        self.count.fetch_sub(1, SeqCst);
    }
}

/// A barrier with a timeout, at which a number of `parties` wait for each other.
struct Meeting {
    parties: usize,
    arrived: Mutex<usize>,
    all_here: Condvar,
}

impl Meeting {
    fn new(parties: usize) -> Arc<Meeting> {
        Arc::new(Meeting { parties, arrived: Mutex::default(), all_here: Condvar::new() })
    }

    /// Waits for the other parties. Returns whether all of them came.
    fn attend(&self) -> bool {
        let mut arrived = self.arrived.lock().unwrap();
        *arrived += 1;
        self.all_here.notify_all();
        let is_short = |arrived: &mut usize| *arrived < self.parties;
        !self.all_here.wait_timeout_while(arrived, PATIENCE, is_short).unwrap().1.timed_out()
    }
}

fn callbacks_of_an_exclusive_group_never_overlap(case: &Case) {
    const EACH: usize = 150;
    let (mut far, mut executor, node) = (case.far(), case.executor(), node());
    executor.add_node(&node).unwrap();
    let (inside, (sender, told)) = (Arc::new(Inside::default()), value_channel());
    let group = node.create_callback_group(CallbackGroupType::MutuallyExclusive);
    // Clones of a group are handles to the same group, even after one of them set another priority.
    let groups = [group.clone(), group.clone().with_priority(1), group];
    for (name, group) in NAMES.into_iter().zip(groups) {
        let (inside, sender) = (inside.clone(), sender.clone());
        let subscription = node.create_subscription::<Point>(&case.topic(name), all()).unwrap();
        group.add_callback(subscription, move |_, point| {
            inside.stay();
            sender.send((name, point.x as usize)).unwrap();
        });
        far.advertise(&case.topic(name), "keep_all");
    }
    let heard = spinning(&mut *executor, || {
        NAMES.iter().for_each(|name| far.publish(&case.topic(name), 1, EACH));
        told.take(NAMES.len() * EACH)
    });
    assert_eq!(inside.most.load(SeqCst), 1);
    for name in NAMES {
        let numbers: Vec<_> = heard.iter().filter(|heard| heard.0 == name).map(|heard| heard.1).collect();
        assert_eq!(numbers, (1..=EACH).collect::<Vec<_>>());
    }
}

/// Three callbacks wait for each other. On three threads, all of them meet; on one thread, they run one after the
/// other.
fn run_at_once(case: &Case, groups: &[CallbackGroup], node: &Node, feed: impl FnOnce()) {
    let is_one_thread = match case.kind {
        Kind::MultiThreaded | Kind::EventsThreads(_) => false,
        Kind::CallbackIsolated => groups.len() == 1,
        Kind::SingleThreaded | Kind::Events(_) => true,
    };
    let (meeting, inside, (sender, told)) = (Meeting::new(NAMES.len()), Arc::new(Inside::default()), value_channel());
    for (name, group) in NAMES.iter().zip(groups.iter().cycle()) {
        let (meeting, inside, sender) = (meeting.clone(), inside.clone(), sender.clone());
        let subscription = node.create_subscription::<Point>(&case.topic(name), all()).unwrap();
        group.add_callback(subscription, move |_, _| {
            let is_right = if is_one_thread {
                inside.stay();
                inside.most.load(SeqCst) == 1
            } else {
                meeting.attend()
            };
            sender.send(is_right).unwrap();
        });
    }
    let mut executor = case.executor();
    executor.add_node(node).unwrap();
    spinning(&mut *executor, || {
        feed();
        assert_eq!(told.take(NAMES.len()), [true; 3]);
    });
}

fn callbacks_of_a_reentrant_group_run_at_once(case: &Case) {
    let (mut far, node) = (case.far(), node());
    let group = node.create_callback_group(CallbackGroupType::Reentrant);
    run_at_once(case, &[group], &node, || {
        for name in NAMES {
            far.advertise(&case.topic(name), "keep_all");
            far.publish(&case.topic(name), 1, 1);
        }
    });
}

fn exclusive_groups_run_beside_each_other(case: &Case) {
    let node = node();
    let groups = NAMES.map(|_| node.create_callback_group(CallbackGroupType::MutuallyExclusive));
    let mut publishers = NAMES.map(|name| node.create_publisher::<Point>(&case.topic(name), all()).unwrap());
    run_at_once(case, &groups, &node, || {
        for publisher in &mut publishers {
            assert!(publisher.wait_for_subscriptions(1, PATIENCE).unwrap());
            publisher.publish_copy(&Point { x: 1.0, y: 0.0 }).unwrap();
        }
    });
}

/// In a spin with a condition, callbacks also run on all threads, so that callbacks that wait for each other meet.
fn a_spin_until_uses_all_threads(case: &Case) {
    let parties = if case.kind.has_threads() || case.kind == Kind::CallbackIsolated { NAMES.len() } else { 1 };
    let (mut executor, node, meeting, (sender, told)) =
        (case.executor(), node(), Meeting::new(parties), value_channel());
    for _ in NAMES {
        let (meeting, sender) = (meeting.clone(), sender.clone());
        let once = Timer::one_shot(&Clock::steady(), ms(1)).unwrap();
        let group = node.create_callback_group(CallbackGroupType::MutuallyExclusive);
        group.add_callback(once, move |_, _| sender.send(meeting.attend()).unwrap());
    }
    executor.add_node(&node).unwrap();
    let mut all = Vec::new();
    let came = executor.spin_until(PATIENCE, &mut || {
        all.extend(told.rest());
        all.len() == NAMES.len()
    });
    assert!(came.unwrap());
    assert_eq!(all, [true; NAMES.len()]);
    let panic =
        catch_unwind(AssertUnwindSafe(|| executor.spin_until(PATIENCE, &mut || resume_unwind(Box::new("why")))));
    assert_eq!(*panic.unwrap_err().downcast::<&str>().unwrap(), "why", "a panic of the condition is passed on");
    assert!(!executor.spin_once(Duration::ZERO).unwrap());
}

fn a_callback_never_overlaps_itself(case: &Case) {
    let (mut executor, node, inside) = (case.executor(), node(), Arc::new(Inside::default()));
    let (group, (sender, told)) = (node.create_callback_group(CallbackGroupType::Reentrant), value_channel());
    let mut publisher = node.create_publisher::<Point>(&case.topic("self"), all()).unwrap();
    let (subscription, own) = (node.create_subscription::<Point>(&case.topic("self"), all()).unwrap(), inside.clone());
    group.add_callback(subscription, move |_, point| {
        own.stay();
        sender.send(point.x as usize).unwrap();
    });
    executor.add_node(&node).unwrap();
    assert!(publisher.wait_for_subscriptions(1, PATIENCE).unwrap());
    spinning(&mut *executor, || {
        for number in 0..300 {
            publisher.publish_copy(&Point { x: f64::from(number), y: 0.0 }).unwrap();
        }
        assert_eq!(told.take(300), (0..300).collect::<Vec<_>>());
    });
    assert_eq!(inside.most.load(SeqCst), 1);
}

/// A callback is removed while it runs. The run ends normally, the callback does not run again, and other callbacks are
/// not held up.
fn the_group_of_a_removed_callback_goes_on(case: &Case) {
    let (mut executor, node) = (case.executor(), node());
    executor.add_node(&node).unwrap();
    let (sender, told) = value_channel();
    let ((begun, begins), (gone, goes)) = (value_channel(), value_channel::<()>());
    let told_first = sender.clone();
    let first = node.add_callback(node.create_timer(ms(1)).unwrap(), move |_, _| {
        begun.send(()).unwrap();
        goes.next();
        told_first.send("first").unwrap();
    });
    let other = node
        .create_timer_with_callback(ms(1), move |_| {
            let _ = sender.send("other");
        })
        .unwrap();
    spinning(&mut *executor, || {
        begins.next();
        first.remove();
        let _ = told.rest();
        gone.send(()).unwrap();
        assert_eq!(told.take(4), ["first", "other", "other", "other"]);
        assert!(begins.rest().is_empty());
    });
    other.cancel();
}
