//! The threads that pass samples to the network, one for each priority; the thread that took a small sample may send it
//! itself (`Carrier`). So images that wait for a slow link do not
//! delay the stop command of a robot.

use super::lane::Lane;
use crate::lock::lock;
use gantry::with_signals_blocked;
use std::{
    collections::{HashMap, VecDeque},
    io,
    sync::{Arc, Condvar, Mutex, PoisonError},
    thread::{self, JoinHandle},
};

/// A function that is called after a sample of a lane was sent, if the lane makes its publisher wait: it has room
/// again.
pub type OnRoom = Box<dyn Fn() + Send>;

/// A lane with waiting samples.
type Scheduled = (Arc<Lane>, Option<OnRoom>);

/// The threads and their queues, by priority.
type Threads = HashMap<u8, (Arc<Queue>, JoinHandle<()>)>;

/// The threads that send samples. The thread of a priority starts at the first use of the priority.
#[derive(Default)]
pub struct Sender {
    threads: Mutex<Threads>,
}

#[derive(Default)]
struct Queue {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
struct State {
    lanes: VecDeque<Scheduled>,
    is_ending: bool,
}

impl Sender {
    /// Creates a sender without threads.
    #[must_use]
    pub fn new() -> Sender {
        Sender::default()
    }

    /// Starts the thread of this priority if it does not run yet.
    ///
    /// # Errors
    /// The operating system cannot start the thread.
    pub fn prepare(&self, priority: u8) -> io::Result<()> {
        let mut threads = lock(&self.threads);
        if threads.contains_key(&priority) {
            return Ok(());
        }
        let queue = Arc::new(Queue::default());
        let (of_thread, name) = (queue.clone(), format!("bridge-send-{priority}"));
        let thread = with_signals_blocked(|| thread::Builder::new().name(name).spawn(move || of_thread.run()))?;
        threads.insert(priority, (queue, thread));
        Ok(())
    }

    /// Adds a lane to the queue of its priority, whose thread sends one sample of each lane in turn.
    pub(super) fn schedule(&self, lane: Arc<Lane>, on_room: Option<OnRoom>) {
        let queue = lock(&self.threads).get(&lane.priority()).map(|(queue, _)| queue.clone());
        if let Some(queue) = queue {
            queue.push((lane, on_room));
        }
    }

    /// Ends the threads. Each thread finishes the sample that it is sending.
    pub fn end(&self) {
        let threads = std::mem::take(&mut *lock(&self.threads));
        for (queue, _) in threads.values() {
            lock(&queue.state).is_ending = true;
            queue.changed.notify_all();
        }
        for (_, thread) in threads.into_values() {
            let _ = thread.join(); // the panic hook has reported a panic of the thread
        }
    }
}

impl Queue {
    fn push(&self, scheduled: Scheduled) {
        lock(&self.state).lanes.push_back(scheduled);
        self.changed.notify_one();
    }

    fn run(&self) {
        while let Some((lane, on_room)) = self.next() {
            if !lane.send_one() {
                continue;
            }
            if let Some(on_room) = &on_room {
                on_room();
            }
            self.push((lane, on_room));
        }
    }

    fn next(&self) -> Option<Scheduled> {
        let mut state = lock(&self.state);
        loop {
            if state.is_ending {
                return None;
            }
            if let Some(scheduled) = state.lanes.pop_front() {
                return Some(scheduled);
            }
            state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }
}

impl std::fmt::Debug for Sender {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Sender({} threads)", lock(&self.threads).len())
    }
}
