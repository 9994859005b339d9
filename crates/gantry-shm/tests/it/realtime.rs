//! Tests that the data path allocates nothing and, while no reader sleeps, makes no system call. Real-time threads rely
//! on this.
//!
//! Every scenario runs twice: on a thread whose allocations are counted, and in a child process with a *trap*. The trap
//! is a seccomp filter that ends the process at the first forbidden system call.

use crate::support::*;
use allocations::{Counts, count};
use gantry_shm::{Liveliness, Participant, Publisher, Qos, Sample, SourceTime, Subscription};
use libtest_mimic::Trial;
use std::{
    hint::black_box,
    ops::RangeInclusive,
    sync::{
        Arc, Barrier, Mutex,
        atomic::{AtomicUsize, Ordering::AcqRel},
    },
    time::Duration,
};
use test_support::trap::{self, step};

/// The number of cycles before the measurement. By then the history is full, slots were reclaimed, and all slots exist.
const WARM_UP_CYCLES: u64 = 5_000;
/// The number of measured cycles, in which no allocation and no system call may occur.
const CYCLES: u64 = 20_000;
const LARGE_BYTES: usize = 100 << 10;
/// The line that a child prints if it made no system call.
const OK: &str = "realtime ok";

/// Returns the tests. If the trap cannot be set, the tests that need it are ignored.
pub fn trials(no_trap: bool) -> Vec<Trial> {
    let mut trials = vec![
        trial("the_counter_sees_a_box", the_counter_sees_a_box),
        trial("the_trap_catches_a_system_call", the_trap_catches_a_system_call).with_ignored_flag(no_trap),
    ];
    for scenario in scenarios() {
        let name = scenario.name;
        trials.push(trial(&format!("{name}_without_allocation"), move || without_allocation(scenario)));
        let trapped = trial(&format!("{name}_without_system_call"), move || without_system_call(name));
        trials.push(trapped.with_ignored_flag(no_trap));
    }
    for (name, bytes) in [("two_threads", 64), ("two_threads_with_large_messages", LARGE_BYTES)] {
        let test = move |instrument| on_two_threads(instrument, bytes);
        trials.push(trial(&format!("{name}_without_allocation"), move || test("counter")));
        trials.push(trial(&format!("{name}_without_system_call"), move || test("trap")).with_ignored_flag(no_trap));
    }
    trials
}

fn trial(name: &str, test: impl FnOnce() + Send + 'static) -> Trial {
    test_support::trial(format!("{}::{name}", module_path!()), test)
}

/// A scenario: the numbers of endpoints, and their work in each cycle.
#[derive(Clone, Copy)]
struct Scenario {
    name: &'static str,
    publishers: usize,
    subscriptions: usize,
    bytes: usize,
    qos: Qos,
    /// The number of samples that each subscription holds.
    held: usize,
    /// Publishers publish once in every `publish_every` cycles.
    publish_every: u64,
    /// Subscriptions take once in every `take_every` cycles.
    take_every: u64,
}

fn scenarios() -> Vec<Scenario> {
    let qos = Qos::default();
    let one = Scenario {
        name: "one_subscription",
        publishers: 1,
        subscriptions: 1,
        bytes: 64,
        qos,
        held: 0,
        publish_every: 1,
        take_every: 1,
    };
    let large = Scenario { name: "large_messages", bytes: LARGE_BYTES, ..one };
    vec![
        one,
        large,
        Scenario { name: "four_subscriptions", subscriptions: 4, ..one },
        Scenario { name: "large_messages_to_four_subscriptions", subscriptions: 4, ..large },
        Scenario { name: "two_publishers", publishers: 2, ..one },
        Scenario { name: "large_messages_of_two_publishers", publishers: 2, ..large },
        Scenario { name: "depth_1", qos: qos.keep_last(1), ..one },
        Scenario { name: "large_messages_of_depth_1", qos: qos.keep_last(1), ..large },
        Scenario { name: "keep_all", qos: qos.keep_all(), ..one },
        Scenario { name: "transient_local", qos: qos.transient_local(), ..one },
        Scenario { name: "promises", qos: promises(qos), ..one },
        Scenario { name: "large_transient_local_messages", qos: qos.transient_local(), ..large },
        Scenario { name: "samples_held", subscriptions: 2, held: 5, ..one },
        Scenario { name: "large_samples_held", subscriptions: 2, held: 5, ..large },
        Scenario { name: "a_slow_reader", take_every: 50, ..one },
        Scenario { name: "a_slow_reader_of_large_messages", take_every: 50, ..large },
        Scenario { name: "without_subscription", subscriptions: 0, ..one },
        Scenario { name: "large_messages_without_subscription", subscriptions: 0, ..large },
        Scenario { name: "nothing_to_take", publish_every: 100, ..one },
        Scenario { name: "no_publisher_to_take_from", publishers: 0, ..one },
    ]
}

/// Adds QoS policies that make publish and take check times. No sample expires, because its time is 0.
fn promises(qos: Qos) -> Qos {
    let century = Duration::from_secs(100 * 365 * 24 * 3600);
    let manual = qos.liveliness(Liveliness::ManualByTopic).liveliness_lease_duration(century);
    manual.deadline(century).lifespan(century)
}

fn without_allocation(scenario: Scenario) {
    let root = Root::new();
    let mut cast = Cast::new(&root.join(), scenario);
    cast.run(WARM_UP_CYCLES);
    let counts = count(|| cast.run(CYCLES));
    assert_eq!(counts, Counts::default(), "loan, publish, take or release allocated or freed in {CYCLES} cycles");
    cast.assert_complete();
}

fn without_system_call(name: &str) {
    let line = Root::new().child("without-system-call", &[name]).line();
    assert_eq!(line, OK, "loan, publish, take or release made a system call, or failed");
}

/// Role of a child process: runs a scenario with the trap. Prints [`OK`] as its last line if there was no system call.
pub fn play_in_trap(participant: &Arc<Participant>, name: &str) {
    let scenario = scenarios().into_iter().find(|scenario| scenario.name == name).unwrap();
    let mut cast = Cast::new(participant, scenario);
    cast.run(WARM_UP_CYCLES);
    panics_end_the_process();
    trap::set(&[]).unwrap();
    cast.run(CYCLES);
    cast.assert_complete();
    trap::end(format_args!("{OK}"));
}

/// Makes a panic end the process at once. Unwinding makes many system calls, which must not look like system calls of
/// the data path. Besides, another thread might wait for the thread that panicked.
fn panics_end_the_process() {
    std::panic::set_hook(Box::new(|panic| trap::end(format_args!("{panic}"))));
}

/// Runs the two threads in a child process, which ends if one of them fails; otherwise the other thread would wait for
/// ever.
fn on_two_threads(instrument: &str, bytes: usize) {
    let line = Root::new().child("two-threads", &[instrument, &bytes.to_string()]).line();
    assert_eq!(line, OK, "loan, publish, take or release on two threads did not get past the {instrument}");
}

/// Role of a child process: publishes at full speed on one thread, polls on another thread, and releases samples on
/// both.
pub fn play_on_two_threads(participant: &Arc<Participant>, instrument: &str, bytes: usize) {
    panics_end_the_process();
    let (mut publisher, mut subscription) =
        (publisher(participant, bytes, Qos::default()), subscription(participant, bytes, Qos::default()));
    match_up(&mut publisher, &mut subscription);
    // The number of needed slots depends on the timing of the threads. A hundred slots are more than both threads can
    // ever hold, so no slot is created later.
    let loans: Vec<_> = (0..100).map(|_| publisher.loan(bytes).unwrap()).collect();
    for mut loan in loans {
        stamp(loan.bytes_mut(), 0);
        publisher.publish(loan, SourceTime::now()).unwrap();
    }
    let (handed_over, warm, ended) = (Mutex::new(None), Barrier::new(2), AtomicUsize::new(0));
    let watch = |work: &mut dyn FnMut()| {
        warm.wait();
        if instrument == "trap" {
            trap::set(&[]).unwrap();
        }
        let counts = count(work);
        assert!(instrument == "trap" || counts == Counts::default(), "{counts:?}");
        if ended.fetch_add(1, AcqRel) == 1 {
            trap::end(format_args!("{OK}"));
        }
        // Even the end of a thread makes system calls, which the trap would catch; so the thread loops.
        loop {
            std::hint::spin_loop();
        }
    };
    let mut publish = |numbers: RangeInclusive<u64>| {
        numbers.for_each(|number| publish_and_release(&mut publisher, bytes, number, &handed_over));
    };
    let mut take = |last| while take_and_hand_over(&mut subscription, &handed_over) != Some(last) {};
    std::thread::scope(|scope| {
        scope.spawn(|| {
            take(WARM_UP_CYCLES);
            watch(&mut || take(CYCLES));
        });
        publish(1..=WARM_UP_CYCLES);
        watch(&mut || publish(WARM_UP_CYCLES + 1..=CYCLES));
    });
}

/// A sample that one thread leaves for the other thread, and its number.
type HandedOver = Mutex<Option<(u64, Sample)>>;

/// Publishes a sample. Drops the sample that the other thread has left, which must still contain its number.
fn publish_and_release(publisher: &mut Publisher, bytes: usize, number: u64, handed_over: &HandedOver) {
    step("loan");
    let mut loan = publisher.loan(bytes).unwrap();
    stamp(loan.bytes_mut(), number);
    step("publish");
    publisher.publish(loan, SourceTime::now()).unwrap();
    step("release");
    // `try_lock` does not wait, so the mutex makes no system call.
    if let Ok(mut cell) = handed_over.try_lock()
        && let Some((number, sample)) = cell.take()
    {
        assert_eq!(number_in(sample.bytes()), number, "the slot of a held sample contains another sample");
    }
}

/// Takes a sample and leaves it for the other thread. Returns its number; `None` if there was no sample.
fn take_and_hand_over(subscription: &mut Subscription, handed_over: &HandedOver) -> Option<u64> {
    step("take");
    let sample = subscription.take().unwrap()?;
    let number = number_in(sample.bytes());
    step("release");
    if let Ok(mut cell) = handed_over.try_lock() {
        drop(cell.replace((number, sample)));
    }
    Some(number)
}

fn the_counter_sees_a_box() {
    assert_eq!(count(|| drop(black_box(Box::new(1)))), Counts { allocations: 1, frees: 1, bytes: 4, freed_bytes: 4 });
    assert_eq!(count(|| _ = black_box(1)), Counts::default());
}

fn the_trap_catches_a_system_call() {
    let line = Root::new().child("system-call", &[]).line();
    assert_eq!(line, format!("a test made system call {}", libc::SYS_getppid));
}

/// Role of a child process: makes a system call after the trap is set.
pub fn make_a_system_call() {
    trap::set(&[]).unwrap();
    step("a test");
    black_box(rustix::process::getppid());
    trap::end(format_args!("not caught"));
}

/// The endpoints of a scenario: its publishers and subscriptions.
struct Cast {
    scenario: Scenario,
    publishers: Vec<Publisher>,
    readers: Vec<Reader>,
    cycle: u64,
    published: u64,
}

struct Reader {
    subscription: Subscription,
    /// The newest samples and their numbers; the scenario sets how many are held.
    held: Vec<Option<(u64, Sample)>>,
    taken: u64,
}

impl Cast {
    fn new(participant: &Arc<Participant>, scenario: Scenario) -> Cast {
        let mut publishers: Vec<_> =
            (0..scenario.publishers).map(|_| publisher(participant, scenario.bytes, scenario.qos)).collect();
        let new_reader = |_| Reader {
            subscription: subscription(participant, scenario.bytes, scenario.qos),
            held: (0..scenario.held).map(|_| None).collect(),
            taken: 0,
        };
        let mut readers: Vec<_> = (0..scenario.subscriptions).map(new_reader).collect();
        for reader in &mut readers {
            assert_eq!(reader.subscription.publisher_count().unwrap(), scenario.publishers);
        }
        for publisher in &mut publishers {
            assert_eq!(publisher.subscription_count().unwrap(), scenario.subscriptions);
        }
        Cast { scenario, publishers, readers, cycle: 0, published: 0 }
    }

    fn run(&mut self, cycles: u64) {
        for _ in 0..cycles {
            self.cycle += 1;
            if self.cycle.is_multiple_of(self.scenario.publish_every) {
                self.publish();
            }
            if self.cycle.is_multiple_of(self.scenario.take_every) {
                self.readers.iter_mut().for_each(Reader::take);
            }
        }
    }

    fn publish(&mut self) {
        for publisher in &mut self.publishers {
            self.published += 1;
            step("loan");
            let mut loan = publisher.loan(self.scenario.bytes).unwrap();
            step("filling");
            stamp(loan.bytes_mut(), self.published);
            step("publish");
            publisher.publish(loan, SourceTime::now()).unwrap();
            step("asserting liveliness");
            publisher.assert_liveliness().unwrap();
        }
    }

    /// Asserts that every sample was taken, except for samples that a slow reader missed.
    fn assert_complete(&self) {
        assert_eq!(self.published > 0, self.scenario.publishers > 0);
        for reader in &self.readers {
            let lost = reader.subscription.losses().overwritten;
            assert_eq!(reader.taken + lost, self.published);
            assert_eq!(lost > 0, self.scenario.take_every > self.scenario.qos.depth.into());
            assert!(reader.held.iter().all(Option::is_some));
        }
    }
}

impl Reader {
    /// Takes samples until none is left.
    fn take(&mut self) {
        loop {
            step("take");
            let Some(sample) = self.subscription.take().unwrap() else { break };
            step("looking at a sample");
            let number = number_in(sample.bytes());
            let mut oldest = Some((number, sample));
            if !self.held.is_empty() {
                let index = self.taken as usize % self.held.len();
                std::mem::swap(&mut self.held[index], &mut oldest);
            }
            self.taken += 1;
            if let Some((number, sample)) = oldest {
                assert_eq!(number_in(sample.bytes()), number, "a held sample changed");
                step("release");
                drop(sample);
            }
        }
    }
}

/// Writes every byte of a message. `support::fill` would take too long for all these large messages.
fn stamp(bytes: &mut [u8], number: u64) {
    bytes.fill(number as u8);
    *bytes.first_chunk_mut().unwrap() = number.to_le_bytes();
    *bytes.last_chunk_mut().unwrap() = number.to_le_bytes();
}

/// The number that [`stamp`] wrote.
fn number_in(bytes: &[u8]) -> u64 {
    assert_eq!(bytes.first_chunk::<8>(), bytes.last_chunk(), "a sample is corrupt");
    u64::from_le_bytes(*bytes.first_chunk().unwrap())
}
