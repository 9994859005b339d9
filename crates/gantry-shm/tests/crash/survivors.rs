//! The survivors: the processes that run beside the killed process, and the checks of their state.

use crate::{
    board::Waiters,
    deaths::start,
    endpoints::{Listener, Talker},
    support::{PATIENCE, Root, eventually, match_up, publisher, publisher_with, send, subscription},
};
use gantry_shm::{GraphEntry, Loan, Participant, PublisherOptions, Qos};
use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicU64, Ordering::SeqCst},
    },
    thread::JoinHandle,
};

/// The processes that run beside the killed process, and their QoS.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Others {
    Absent,
    /// No process runs, but a process that died earlier has left its files.
    Dead,
    Small,
    Large,
    /// The endpoints are RELIABLE KEEP_ALL, so publishers wait for readers.
    Gating,
    /// A reader that sleeps whenever there is nothing to take.
    Sleeping,
}

impl Others {
    pub fn payload_bytes(self) -> usize {
        if self == Others::Large { 1 << 20 } else { 1 << 10 }
    }

    /// The QoS of all endpoints.
    pub fn qos(self) -> Qos {
        if self == Others::Gating { Qos::default().keep_all() } else { Qos::default().keep_last(24) }
    }

    /// The options of the survivors' publisher.
    pub fn options(self) -> PublisherOptions {
        PublisherOptions {
            max_blocking_time: PATIENCE,
            max_kept_samples: 8,
            max_memory_bytes: Some((64 << 10) + 6 * self.payload_bytes()),
            ..Default::default()
        }
    }
}

/// The survivors: a publisher and subscriptions in this process.
pub struct Survivors<'a> {
    root: &'a Root,
    others: Others,
    participant: Arc<Participant>,
    talker: Talker,
    listener: Listener,
    deep: Option<Listener>,
    sleeper: Option<Sleeper>,
    /// The number of messages that the publisher can have on loan at the same time.
    capacity: usize,
    graph: Graph,
}

/// The ROS graph after its last change.
struct Graph {
    generation: u64,
    entries: Vec<GraphEntry>,
}

impl Graph {
    fn new(participant: &Participant) -> Graph {
        Graph { generation: participant.graph_generation().unwrap(), entries: participant.graph().unwrap() }
    }

    /// Reads the graph again if its generation has changed.
    fn refresh(&mut self, participant: &Participant) {
        if self.generation != participant.graph_generation().unwrap() {
            *self = Graph::new(participant);
        }
    }
}

/// A thread that takes samples, and sleeps whenever there is none.
struct Sleeper {
    taken: Arc<AtomicU64>,
    ended: Arc<AtomicBool>,
    thread: JoinHandle<()>,
}

impl Sleeper {
    fn start(mut listener: Listener) -> Sleeper {
        let (taken, ended) = (Arc::new(AtomicU64::new(0)), Arc::new(AtomicBool::new(false)));
        let (its_taken, its_ended) = (taken.clone(), ended.clone());
        let thread = std::thread::spawn(move || {
            while !its_ended.load(SeqCst) {
                assert!(listener.subscription.wait(PATIENCE).unwrap(), "the sleeper was not woken");
                listener.take_all();
                its_taken.store(listener.taken, SeqCst);
            }
        });
        Sleeper { taken, ended, thread }
    }
}

impl Survivors<'_> {
    pub fn new(root: &Root, others: Others) -> Survivors<'_> {
        let participant = root.join();
        let (bytes, qos) = (others.payload_bytes(), others.qos());
        let mut publisher = publisher_with(&participant, bytes, qos, others.options());
        let mut listener = Listener::new(subscription(&participant, bytes, qos), 6);
        match_up(&mut publisher, &mut listener.subscription);
        let sleeper = (others == Others::Sleeping).then(|| {
            let mut listener = Listener::new(subscription(&participant, bytes, qos), 6);
            match_up(&mut publisher, &mut listener.subscription);
            Sleeper::start(listener)
        });
        let talker = Talker::new(publisher);
        let graph = Graph::new(&participant);
        let mut survivors =
            Survivors { root, others, participant, talker, listener, deep: None, sleeper, capacity: 0, graph };
        survivors.exchange(20);
        survivors.capacity = survivors.capacity();
        assert!(survivors.capacity > 2);
        survivors
    }

    /// Does the work that the dying process requests, and answers with the number of subscriptions.
    pub fn serve(&mut self, request: &str, mut answer: impl FnMut(usize)) {
        self.graph.refresh(&self.participant);
        let (verb, count) = request.split_once(' ').unwrap_or((request, "0"));
        let count = count.parse().unwrap();
        let answers_first = matches!(verb, "stream" | "soon");
        if answers_first {
            answer(self.subscriptions());
        }
        match verb {
            "match" => match_up(&mut self.talker.publisher, &mut self.listener.subscription),
            "take" | "soon" => {
                self.take_all();
                self.wait_for_sleeper();
            }
            "send" | "stream" => self.exchange(count),
            "deeper" => {
                let qos = self.others.qos().keep_last(500);
                let deep = subscription(&self.participant, self.others.payload_bytes(), qos);
                self.deep = Some(Listener::late(deep, 1));
            }
            "shallower" => self.deep = None,
            "sleep" => eventually("a thread sleeps", || !Waiters::read(self.root).sleeping.is_empty()),
            _ => panic!("unknown request {request}"),
        }
        if !answers_first {
            answer(self.subscriptions());
        }
    }

    fn subscriptions(&self) -> usize {
        1 + usize::from(self.deep.is_some()) + usize::from(self.sleeper.is_some())
    }

    fn take_all(&mut self) {
        self.listener.take_all();
        self.deep.iter_mut().for_each(Listener::take_all);
    }

    /// Publishes `count` messages, and takes each of them.
    fn exchange(&mut self, count: usize) {
        for _ in 0..count {
            self.take_all();
            let before = self.listener.taken;
            self.talker.send(64);
            self.take_all();
            assert!(self.listener.taken > before, "the published sample is not there");
            self.wait_for_sleeper();
        }
    }

    fn wait_for_sleeper(&self) {
        if let Some(sleeper) = &self.sleeper {
            eventually("the sleeper has taken as many samples", || sleeper.taken.load(SeqCst) == self.listener.taken);
        }
    }

    /// Takes and releases all samples. Returns the number of messages of the largest size that can then be on loan.
    fn capacity(&mut self) -> usize {
        self.listener.release(usize::MAX);
        let bytes = self.others.payload_bytes();
        let loans: Vec<Loan> = std::iter::from_fn(|| self.talker.publisher.loan(bytes).ok()).collect();
        loans.len()
    }

    /// Checks the state of all survivors after the child died or ended.
    pub fn check(mut self, scenario: &str) {
        self.take_all(); // samples of the dead process are still valid
        self.deep = None;
        let own = self.subscriptions();
        let (talker, listener) = (&mut self.talker.publisher, &mut self.listener.subscription);
        eventually("the death is noticed", || {
            (talker.subscription_count().unwrap(), listener.publisher_count().unwrap()) == (own, 1)
        });
        self.wait_for_sleeper(); // the child may have died before it rang the sleeper's bell
        eventually("the graph is without the dead", || {
            self.graph.refresh(&self.participant);
            self.graph.entries.len() == 1 + own
        });
        self.exchange(100);
        assert_eq!(self.capacity(), self.capacity, "slots were lost");
        self.meet_a_newcomer(scenario);
        eventually("the files of the dead are removed", || {
            self.talker.publisher.subscription_count().unwrap();
            let names = self.root.files();
            let count = |ending| names.iter().filter(|name| name.extension().is_some_and(|e| e == ending)).count();
            // The five are a process file, a publisher's file, the board, and two directories.
            (names.len(), count("process"), count("pub")) == (5, 1, 1)
        });
        eventually("its memory is unmapped", || {
            self.listener.subscription.publisher_count().unwrap();
            !mapped(self.root).iter().any(|line| line.contains(".pub (deleted)"))
        });
        let waiters = Waiters::read(self.root);
        assert!(waiters.are_all_owned(), "{waiters:?}");
        self.leave();
    }

    fn meet_a_newcomer(&mut self, scenario: &str) {
        let before = self.listener.taken;
        let newcomer = start(self.root, scenario, &["newcomer"], |request, answer| self.serve(request, answer));
        assert!(newcomer.status.success(), "the newcomer ends with {}", newcomer.status);
        assert_eq!(self.listener.taken, before + 6, "three samples of the newcomer, three of the survivors");
        self.exchange(20); // now no reader holds a sample of the newcomer
    }

    fn leave(mut self) {
        if let Some(sleeper) = self.sleeper.take() {
            sleeper.ended.store(true, SeqCst);
            self.exchange(1);
            sleeper.thread.join().unwrap();
        }
        let root = self.root;
        drop(self);
        check_empty(root);
    }
}

/// Checks that the next process finds everything in order and leaves no file. No other process may run.
pub fn check_next(root: &Root) {
    let participant = root.join();
    let mut publisher = publisher(&participant, 64, Qos::default());
    let mut listener = Listener::new(subscription(&participant, 64, Qos::default()), 1);
    match_up(&mut publisher, &mut listener.subscription);
    send(&mut publisher, 64, 1);
    listener.take_all();
    assert_eq!(listener.taken, 1);
    drop((publisher, listener, participant));
    check_empty(root);
}

fn check_empty(root: &Root) {
    root.assert_empty();
    assert_eq!(mapped(root), Vec::<String>::new(), "a mapping stayed");
}

/// The lines of /proc/self/maps for files under this root.
fn mapped(root: &Root) -> Vec<String> {
    let maps = std::fs::read_to_string("/proc/self/maps").unwrap();
    maps.lines().filter(|line| line.contains(root.path().to_str().unwrap())).map(str::to_owned).collect()
}
