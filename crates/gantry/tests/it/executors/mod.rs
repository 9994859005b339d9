//! The behaviours that all executors share. Each behaviour is a separate test for each executor and each place of the
//! far end: on a thread of this process, in another process (`far`), or without a far end.
//!
//! The tests are called `executors::EXECUTOR::PLACE::BEHAVIOUR`. If executors differ in the order of messages or in
//! losses, the behaviour's test states the difference.

mod changes;
mod delivery;
mod ends;
pub mod failures;
mod far;
mod groups;
mod listening;
mod members;
mod overload;
mod queue;
mod removal;
mod running;
mod services;
mod slow;
mod timers;
mod waits;
mod wakes;

use crate::{
    child::{say, told},
    support::*,
};
use far::Far;
use gantry::*;
use libtest_mimic::Trial;
use listening::{Heard, Listener, SentValues, feed_itself, value_channel};
use std::{
    ops::DerefMut,
    sync::{Arc, Mutex},
    time::{Duration, Instant},
};

/// A queue capacity at which no event is dropped.
const AMPLE: usize = 5000;

/// The kind of an executor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    SingleThreaded,
    MultiThreaded,
    CallbackIsolated,
    Events(Overflow),
    /// The events executor with three threads.
    EventsThreads(Overflow),
}

impl Kind {
    pub const ALL: [(Kind, &str); 8] = [
        (Kind::SingleThreaded, "single_threaded"),
        (Kind::MultiThreaded, "multi_threaded"),
        (Kind::CallbackIsolated, "callback_isolated"),
        (Kind::Events(Overflow::Wait), "events_wait"),
        (Kind::Events(Overflow::DropOldest), "events_drop_oldest"),
        (Kind::Events(Overflow::DropNewest), "events_drop_newest"),
        (Kind::EventsThreads(Overflow::Wait), "events_threads_wait"),
        (Kind::EventsThreads(Overflow::DropOldest), "events_threads_drop_oldest"),
    ];

    pub fn is_events(self) -> bool {
        self.overflow().is_some()
    }

    /// The rule of the queue if it is full; `None` if the executor has no queue.
    pub fn overflow(self) -> Option<Overflow> {
        match self {
            Kind::Events(overflow) | Kind::EventsThreads(overflow) => Some(overflow),
            _ => None,
        }
    }

    /// Whether callbacks of one group may run at the same time.
    pub fn has_threads(self) -> bool {
        matches!(self, Kind::MultiThreaded | Kind::EventsThreads(_))
    }

    pub fn executor(self) -> Box<dyn Tested> {
        self.executor_with_queue(AMPLE)
    }

    /// Makes an executor of this kind. Only the kinds that have a queue use the capacity.
    pub fn executor_with_queue(self, capacity: usize) -> Box<dyn Tested> {
        match self {
            Kind::SingleThreaded => Box::new(SingleThreadedExecutor::new()),
            Kind::MultiThreaded => Box::new(MultiThreadedExecutor::with_threads(3)),
            Kind::CallbackIsolated => Box::new(CallbackIsolatedExecutor::new()),
            Kind::Events(overflow) => Box::new(EventsExecutor::with_queue(capacity, overflow)),
            Kind::EventsThreads(overflow) => Box::new(EventsExecutor::with_queue(capacity, overflow).with_threads(3)),
        }
    }
}

/// An executor under test, with counts that only some executors have.
pub trait Tested: Executor + Send {
    fn dropped(&self) -> u64 {
        0
    }
}

impl Tested for SingleThreadedExecutor {}
impl Tested for MultiThreadedExecutor {}
impl Tested for CallbackIsolatedExecutor {}
impl Tested for EventsExecutor {
    fn dropped(&self) -> u64 {
        EventsExecutor::dropped(self)
    }
}

/// The place of the far end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Place {
    /// On a thread of this process.
    Threads,
    /// In another process.
    Processes,
    /// There is no far end.
    Alone,
}

/// A behaviour: its name, whether it needs a far end, and the test.
type Behaviour = (&'static str, bool, fn(&Case));

macro_rules! behaviours {
    (with_a_far_end: [$($far:ident),* $(,)?], alone: [$($alone:ident),* $(,)?] $(,)?) => {
        pub(super) const BEHAVIOURS: &[super::Behaviour] =
            &[$((stringify!($far), true, $far),)* $((stringify!($alone), false, $alone),)*];
    };
}
use behaviours;

/// The case of a test: the kind of executor, and whether the far end is a thread, a process or absent.
pub struct Case {
    kind: Kind,
    place: Place,
    name: String,
}

impl Case {
    fn executor(&self) -> Box<dyn Tested> {
        self.kind.executor()
    }

    /// Whether callbacks of several groups may run at the same time.
    fn runs_several(&self) -> bool {
        self.kind.has_threads() || self.kind == Kind::CallbackIsolated
    }

    /// The full name of a topic that only this test uses.
    fn topic(&self, name: &str) -> String {
        format!("/{}/{name}", self.name.replace("::", "/"))
    }

    /// Starts the far end in this case's place.
    fn far(&self) -> Far {
        match self.place {
            Place::Threads => Far::on_thread(),
            Place::Processes => Far::in_process(),
            Place::Alone => panic!("{} is to have no other end", self.name),
        }
    }
}

/// All tests: each behaviour with each executor in each place.
pub fn trials() -> Vec<Trial> {
    let behaviours = [
        slow::BEHAVIOURS, // the longest tests come first
        delivery::BEHAVIOURS,
        timers::BEHAVIOURS,
        groups::BEHAVIOURS,
        queue::BEHAVIOURS,
        members::BEHAVIOURS,
        removal::BEHAVIOURS,
        running::BEHAVIOURS,
        waits::BEHAVIOURS,
        overload::BEHAVIOURS,
        changes::BEHAVIOURS,
        ends::BEHAVIOURS,
        failures::BEHAVIOURS,
        services::BEHAVIOURS,
        wakes::BEHAVIOURS,
    ];
    let mut trials = Vec::new();
    for &(behaviour, has_far_end, test) in behaviours.into_iter().flatten() {
        let places = if has_far_end {
            &[(Place::Threads, "threads"), (Place::Processes, "processes")][..]
        } else {
            &[(Place::Alone, "alone")]
        };
        for (kind, executor) in Kind::ALL {
            for &(place, place_name) in places {
                let name = format!("executors::{executor}::{place_name}::{behaviour}");
                let case = Case { kind, place, name: name.clone() };
                trials.push(test_support::trial(name, move || test(&case)));
            }
        }
    }
    trials
}

/// Spins on another thread while this thread does `work`, then cancels the spin.
fn spinning<R>(executor: &mut dyn Tested, work: impl FnOnce() -> R) -> R {
    let cancel = CancelAtEnd(executor.handle());
    std::thread::scope(|scope| {
        let spinner = scope.spawn(|| executor.spin());
        let result = work();
        drop(cancel);
        spinner.join().unwrap().unwrap();
        result
    })
}

/// A guard that cancels the spin when it is dropped, so that a failing test does not wait for its executor.
struct CancelAtEnd(ExecutorHandle);

impl Drop for CancelAtEnd {
    fn drop(&mut self) {
        self.0.cancel();
    }
}

/// Runs all ready callbacks on this thread.
fn drain(executor: &mut dyn Tested) {
    let give_up = Instant::now() + PATIENCE;
    while executor.spin_some(PATIENCE).unwrap() > 0 {
        assert!(Instant::now() < give_up, "there are always more callbacks to run");
    }
}

const fn ms(ms: u64) -> Duration {
    Duration::from_millis(ms)
}

fn all() -> Qos {
    Qos::default().keep_all()
}

/// Runs a role of this module in a child process. Returns `false` for a role of another module.
pub fn play(role: &str, topic: &str) -> bool {
    if let Some(kind) = role.strip_prefix("idle-") {
        idle(kind, topic);
    } else if let Some(kind) = role.strip_prefix("answers-") {
        wakes::answer(kind, topic);
    } else if role == "far" {
        far::serve(std::io::stdin().lines().map_while(std::io::Result::ok), |line| say(&line));
    } else {
        return false;
    }
    true
}

/// Role of a child process: makes an executor of this kind with 50 idle topics, and prints its CPU time and the elapsed
/// time.
fn idle(kind: &str, topic: &str) {
    let (kind, _) = Kind::ALL.into_iter().find(|(_, name)| *name == kind).unwrap();
    let (node, mut executor) = (node(), kind.executor());
    for number in 0..50 {
        let topic = format!("{topic}/topic_{number}");
        node.create_subscription_with_callback::<Point>(&topic, Qos::default(), |_| ()).unwrap();
    }
    let (sender, ticks) = value_channel();
    node.create_timer_with_callback(ms(20), move |_| sender.send(()).unwrap()).unwrap();
    executor.add_node(&node).unwrap();
    spinning(executor.deref_mut(), || {
        ticks.next();
        say("ready");
        while told() {
            let process_ns = || {
                let time = rustix::time::clock_gettime(rustix::time::ClockId::ProcessCPUTime);
                time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
            };
            let (cpu_ns, wall) = (process_ns(), Instant::now());
            while wall.elapsed() < ms(400) {
                ticks.next();
            }
            say(&format!("{} {}", process_ns() - cpu_ns, wall.elapsed().as_nanos()));
        }
    });
}
