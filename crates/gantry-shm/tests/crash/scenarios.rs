//! The scenarios: the work of a process that will be killed. The dying process drives its scenario. By lines of text,
//! it requests work from the surviving processes.

use crate::{
    endpoints::{Listener, Talker},
    support::{PATIENCE, bytes_type, eventually, match_up, publisher_with, subscription},
    survivors::Others,
};
use gantry_shm::{
    Collector, GraphRecord, NodeDetails, Participant, Publisher, PublisherOptions, Qos, Sleeper, Subscription, WaitSet,
    crash,
};
use rustix::{
    event::{PollFd, PollFlags, poll},
    process::{Signal, getpid, kill_process},
};
use std::{
    io::{BufRead, Write},
    path::Path,
    sync::Arc,
    time::{Duration, Instant},
};

/// A scenario: the work of the process that dies, and the other processes that run meanwhile.
pub struct Scenario {
    pub name: &'static str,
    pub others: Others,
    play: fn(&Path),
}

/// All scenarios. Together they execute every crash point.
pub const SCENARIOS: &[Scenario] = &[
    Scenario { name: "alone", others: Others::Absent, play: make_and_remove_everything },
    Scenario { name: "reap", others: Others::Dead, play: make_and_remove_everything },
    Scenario { name: "data", others: Others::Small, play: publish_and_take },
    Scenario { name: "growth", others: Others::Large, play: grow },
    Scenario { name: "gating", others: Others::Gating, play: wait_for_each_other },
    Scenario { name: "waiting", others: Others::Sleeping, play: sleep_and_wake },
];

/// The time limit for a child process, in seconds. A child that hangs dies by SIGALRM, which the test reports as an
/// error.
const MAX_LIFE_S: u32 = 60;
/// The length of a wait in which a thread certainly falls asleep.
const NAP: Duration = Duration::from_millis(2);

/// Plays a scenario; the first two arguments are its name and the root directory. If the next arguments are a crash
/// point and a pass, this process dies there; otherwise it plays to the end and prints the number of passes. With
/// `newcomer` this process only joins and exchanges messages; with `remains` it dies and leaves files.
pub fn play(arguments: &[String]) {
    // SAFETY: a system call without memory arguments.
    unsafe { libc::alarm(MAX_LIFE_S) };
    let scenario = SCENARIOS.iter().find(|scenario| scenario.name == arguments[0]).unwrap();
    let root = Path::new(&arguments[1]);
    match arguments[2..].iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["newcomer"] => return exchange_with_survivors(root, scenario.others),
        ["remains"] => return leave_remains(root),
        [index, pass] => crash::arm(index.parse().unwrap(), pass.parse().unwrap()),
        _ => {}
    }
    (scenario.play)(root);
    let passes: Vec<String> = crash::passes().iter().map(u64::to_string).collect();
    say(&format!("passes {}", passes.join(" ")));
}

fn say(line: &str) {
    let mut stdout = std::io::stdout().lock();
    writeln!(stdout, "{line}").unwrap();
    stdout.flush().unwrap();
}

/// Requests work from the survivors. Returns their answer.
fn ask(request: &str) -> String {
    say(request);
    let mut answer = String::new();
    std::io::stdin().lock().read_line(&mut answer).unwrap();
    answer.trim_end().to_owned()
}

fn join(root: &Path) -> Arc<Participant> {
    Participant::join_under(root, 0).unwrap()
}

/// Creates a publisher and a subscription that are matched with each other and with the survivors' endpoints.
fn pair_among(others: Others, participant: &Arc<Participant>, options: PublisherOptions) -> (Talker, Listener) {
    let (bytes, qos) = (others.payload_bytes(), others.qos());
    let mut publisher = publisher_with(participant, bytes, qos, options);
    let mut subscription = subscription(participant, bytes, qos);
    let theirs: usize = ask("match").parse().unwrap();
    match_up(&mut publisher, &mut subscription);
    eventually("all subscriptions are matched", || publisher.subscription_count().unwrap() == theirs + 1);
    (Talker::new(publisher), Listener::late(subscription, 12))
}

/// Joins the domain, exchanges samples with the survivors, and leaves.
fn exchange_with_survivors(root: &Path, others: Others) {
    let participant = join(root);
    let (mut talker, mut listener) = pair_among(others, &participant, PublisherOptions::default());
    (0..3).for_each(|_| talker.send(64));
    ask("take");
    listener.take_all();
    ask("send 3");
    listener.take_all();
    assert_eq!(listener.taken, 6);
}

/// Creates and removes all kinds of entities, in two domains.
fn make_and_remove_everything(root: &Path) {
    let participants = [0, 7].map(|domain| Participant::join_under(root, domain).unwrap());
    for participant in &participants {
        let _node = GraphRecord::node(participant.clone(), "/node", NodeDetails::default()).unwrap();
        let (mut publisher, mut subscription) = alone_on_topic(participant, "/chatter");
        match_up(&mut publisher, &mut subscription);
        let (mut talker, mut listener) = (Talker::new(publisher), Listener::new(subscription, 2));
        (0..3).for_each(|_| talker.send(64));
        listener.take_all();
        assert_eq!(listener.taken, 3);
        listener.subscription.wait(Duration::from_micros(100)).unwrap();
    }
}

fn alone_on_topic(participant: &Arc<Participant>, topic: &str) -> (Publisher, Subscription) {
    let (qos, options) = (Qos::default(), PublisherOptions::default());
    let publisher = Publisher::new(participant.clone(), "/talker", topic, bytes_type(64), qos, options).unwrap();
    (publisher, Subscription::new(participant.clone(), "/listener", topic, bytes_type(64), qos).unwrap())
}

/// Creates endpoints in two domains, and dies. Leaves files, lines on the board, and announced sleepers.
fn leave_remains(root: &Path) {
    let participants = [0, 7].map(|domain| Participant::join_under(root, domain).unwrap());
    let mut endpoints: Vec<_> = participants
        .iter()
        .flat_map(|participant| ["/chatter", "/other"].map(|topic| alone_on_topic(participant, topic)))
        .collect();
    endpoints.iter_mut().for_each(|(_, subscription)| assert!(!subscription.wait(NAP).unwrap()));
    kill_process(getpid(), Signal::KILL).unwrap();
}

/// Executes the crash points of the data path: loan, publish, retire, reclaim, take, hold, release.
fn publish_and_take(root: &Path) {
    let participant = join(root);
    let _node = GraphRecord::node(participant.clone(), "/node", NodeDetails::default()).unwrap();
    let (mut talker, mut listener) = pair_among(Others::Small, &participant, PublisherOptions::default());
    for _ in 0..6 {
        drop(talker.publisher.loan(64).unwrap());
        (0..8).for_each(|_| talker.send(64));
        ask("take");
        ask("send 8");
        listener.take_all();
        listener.release(7);
    }
}

/// Makes the publisher's ring and its memory grow.
fn grow(root: &Path) {
    let participant = join(root);
    let (mut talker, mut listener) = pair_among(Others::Large, &participant, PublisherOptions::default());
    let large = Others::Large.payload_bytes();
    let mut send = |count: usize, bytes: usize, talker: &mut Talker| {
        for _ in 0..count {
            talker.send(bytes);
            listener.take_all();
        }
        ask("take");
    };
    send(4, 64, &mut talker);
    let theirs: usize = ask("deeper").parse().unwrap();
    eventually("the deep reader is matched", || talker.publisher.subscription_count().unwrap() == theirs + 1);
    send(4, large, &mut talker);
    // The first ring of a deep history has no room for these samples, so it grows.
    send(8, 64, &mut talker);
    send(8, 64, &mut talker);
    ask("shallower");
    send(10, 64, &mut talker);
}

/// With KEEP_ALL on both sides, this process waits for the survivors, and the survivors wait for it.
fn wait_for_each_other(root: &Path) {
    let participant = join(root);
    let options = PublisherOptions { max_blocking_time: NAP, ..Others::Gating.options() };
    let (mut talker, mut listener) = pair_among(Others::Gating, &participant, options);
    for _ in 0..3 {
        while talker.try_send(64) {
            listener.take_all();
        }
        ask("soon"); // answered before the survivors take
        while !talker.try_send(64) {}
        for _ in 0..10 {
            listener.take_all();
            ask("take");
            talker.send(64);
        }
    }
    ask("take");
    listener.take_all();
    let before = listener.taken;
    ask("stream 30"); // answered before the survivors publish
    while listener.taken < before + 30 {
        assert!(listener.subscription.wait(PATIENCE).unwrap());
        listener.take_all();
    }
    ask("stream 30"); // this process does not take these samples
}

/// Sleeps in every kind of wait, and wakes a sleeping survivor.
fn sleep_and_wake(root: &Path) {
    let participant = join(root);
    let (mut talker, mut listener) = pair_among(Others::Sleeping, &participant, PublisherOptions::default());
    assert!(!listener.subscription.wait(NAP).unwrap());
    assert!(!WaitSet::new(&participant).wait(&mut [&mut listener.subscription], NAP).unwrap());
    assert!(!talker.publisher.wait_for_subscriptions(100, NAP).unwrap());
    for _ in 0..4 {
        ask("sleep");
        talker.send(64);
        ask("take");
        listener.take_all();
    }
    for _ in 0..2 {
        let before = listener.taken;
        listener.subscription.descriptor().unwrap();
        ask("send 1");
        while listener.taken == before {
            let descriptor = listener.subscription.descriptor().unwrap();
            poll(&mut [PollFd::new(&descriptor, PollFlags::IN)], None).unwrap();
            listener.take_all();
        }
    }
    wake_a_collector(&participant, &mut talker, &mut listener);
}

/// Sleeps on a collector (a wait set for executors) of this process, and wakes it: first while one of its threads
/// sleeps, then after the collecting thread has handed the work over to the sleeping thread.
fn wake_a_collector(participant: &Arc<Participant>, talker: &mut Talker, listener: &mut Listener) {
    let mut collector = Collector::new(participant).unwrap();
    let attachment = collector.attach(&listener.subscription).unwrap();
    collector.wait(Some(Instant::now() + NAP), || false).unwrap();
    for hands_over in [false, true] {
        let (begins, began) = std::sync::mpsc::channel();
        let sleep = collector.prepare_sleep().unwrap();
        std::thread::scope(|scope| {
            let sleeper = scope.spawn(move || {
                begins.send(rustix::thread::gettid()).unwrap();
                Sleeper::new().sleep(sleep, None, || false);
            });
            let status = format!("/proc/self/task/{}/status", began.recv().unwrap());
            while std::fs::read_to_string(&status).is_ok_and(|status| !status.contains("State:\tS")) {
                std::thread::yield_now();
            }
            if hands_over {
                collector.collect(|_| listener.take_all());
                collector.hand_over(|| false);
            }
            talker.send(64);
            sleeper.join().unwrap();
        });
        collector.collect(|_| listener.take_all());
    }
    collector.detach(attachment);
}
