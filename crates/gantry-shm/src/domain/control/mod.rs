//! The control thread of a participant. It maps the memory of new endpoints, notices the deaths of processes and
//! removes their files, so that publish and take never do this work.
//!
//! The thread runs [`ControlTask`]s and sleeps on its own bell on the board. A join or leave on a topic rings the bells
//! of the control threads that watch the topic; each thread then updates its tasks for this side of the topic. The
//! thread probes for deaths every second, or less often if there are many processes ([`Domain::until_probe`]), and
//! every [`LIVENESS_POLL_PERIOD`] while a task polls liveness. Invariant T1: the thread keeps the domain, never the
//! participant, so that dropping a participant can wait for the thread's end.

pub(crate) mod pace;
pub(crate) mod tasks;
pub(crate) mod watch;

use crate::{
    domain::{
        Domain, PROBE_PERIOD,
        board::TopicIndex,
        control::{
            pace::{MIN_PAUSE, Pace},
            tasks::{ControlTask, Task, Tasks},
        },
    },
    error::{Error, Result},
    os::{asymmetric_fence, clock::monotonic_ns, schedule, signals},
    protocol::sleep::{self, Side},
};
use std::{
    sync::{
        Arc, Mutex, MutexGuard, PoisonError, Weak,
        atomic::{AtomicBool, Ordering::*},
    },
    thread::JoinHandle,
    time::{Duration, Instant},
};

/// The time between two probes of publishers while a caller waits for an answer from them.
const LIVENESS_POLL_PERIOD: Duration = Duration::from_millis(20);
/// The stack size of the thread, which makes no deep calls.
const STACK_BYTES: usize = 256 << 10;

/// The number of attempts to lock the result of a discovery before the data path continues without it. The attempts
/// take some microseconds.
const LOCK_ATTEMPTS: usize = 200;

/// Locks the result of a discovery for the data path; returns `None` while a discovery is under way. The attempts go on
/// for some microseconds, because a control thread that finds nothing new holds the lock no longer than that. Without
/// the attempts, the data path would miss endpoints of this process that are joined already.
pub(crate) fn lock_soon<T>(discovered: &Mutex<T>) -> Option<MutexGuard<'_, T>> {
    for _ in 0..LOCK_ATTEMPTS {
        if let Ok(discovered) = discovered.try_lock() {
            return Some(discovered);
        }
        std::hint::spin_loop();
    }
    None
}

#[derive(Default)]
struct ControlState {
    stop: AtomicBool,
    /// Whether the thread probes every [`LIVENESS_POLL_PERIOD`]. If so, another task that begins to poll need not wake
    /// the thread.
    is_polling: AtomicBool,
    tasks: Mutex<Tasks>,
}

/// The handle of a control thread; dropping the handle ends the thread.
pub(crate) struct Control {
    domain: Arc<Domain>,
    shared: Arc<ControlState>,
    thread: Option<JoinHandle<()>>,
}

impl Control {
    /// Starts the thread.
    pub(crate) fn start(domain: Arc<Domain>) -> Result<Control> {
        let shared = Arc::<ControlState>::default();
        let thread = std::thread::Builder::new().name("gantry-control".to_owned()).stack_size(STACK_BYTES);
        let (its_domain, its_shared) = (domain.clone(), shared.clone());
        // Signals are blocked, because the program's signal handlers must not run on a thread that the program did not
        // start.
        let thread = signals::with_signals_blocked(|| thread.spawn(move || run(&its_domain, &its_shared)))
            .map_err(|e| Error::system("start the control thread", e))?;
        Ok(Control { domain, shared, thread: Some(thread) })
    }

    /// Adds a task. The task is updated now and at each join or leave on this side of the topic, for as long as the
    /// task's owner keeps the `Arc`.
    pub(crate) fn register(&self, topic: TopicIndex, side: Side, task: &Arc<impl ControlTask + 'static>) {
        // The watcher's bit is removed only when this process no longer holds the topic (`topics`); until then, a
        // superfluous ring costs the thread one round. By pair (3), either this update sees the generation, or the
        // process that raised the generation sees this process's bit.
        sleep::enter([self.domain.board.line(topic).watchers(side)].into_iter(), self.domain.control_waiter);
        let weak: Weak<dyn ControlTask> = Arc::downgrade(task) as Weak<dyn ControlTask>;
        self.tasks().add(topic, side, weak);
        task.update(&self.domain);
    }

    /// Updates this process's tasks that follow this side of the topic, on the calling thread, so that the tasks do not
    /// wait for the control thread. Tasks that can wait are left to the control thread.
    pub(crate) fn update(&self, topic: TopicIndex, side: Side) {
        let tasks = self.tasks().following(topic, side); // unlocked now, because an update may register tasks
        let connected: Vec<_> = tasks.iter().filter_map(|task| Some((task, task.connect(&self.domain)?))).collect();
        if !connected.is_empty() {
            let generation = self.domain.raise_for_joins(topic); // once for all tasks
            connected.iter().for_each(|(task, batch)| task.join(&self.domain, *batch, generation));
        }
        // The updates follow the joins, because an update may rely on them.
        tasks.iter().filter(|task| !task.can_wait()).for_each(|task| task.update(&self.domain));
    }

    fn tasks(&self) -> MutexGuard<'_, Tasks> {
        self.shared.tasks.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Wakes the control thread, because the due time of a task or the processes to poll may have changed.
    pub(crate) fn wake(&self) {
        self.domain.board.bell(self.domain.control_waiter).ring();
    }

    /// Wakes the thread because a task began to poll liveness. Makes a system call, unless a task woke the thread
    /// shortly before this call.
    pub(crate) fn wake_to_poll_liveness(&self) {
        // SeqCst, like the task's store before this call: either the control thread sees the task's store, or this
        // thread sees the control thread's store of `is_polling`.
        if !self.shared.is_polling.load(SeqCst) {
            self.wake();
        }
    }
}

impl Drop for Control {
    fn drop(&mut self) {
        let Some(thread) = self.thread.take() else { return };
        if !self.domain.epoch.is_current() {
            std::mem::forget(thread); // there is no such thread in a forked child
            return;
        }
        self.shared.stop.store(true, Release);
        if thread.thread().id() == std::thread::current().id() {
            return; // a task or waker dropped the handle on this thread, which then ends
        }
        self.wake();
        thread.thread().unpark();
        // A panic of the thread was printed already.
        let _ = thread.join();
    }
}

fn run(domain: &Arc<Domain>, shared: &ControlState) {
    let bell = domain.control_waiter;
    schedule::leave_real_time();
    let (mut next_probe, mut is_registered) = (Instant::now() + PROBE_PERIOD, false);
    let mut poll_until = None::<Instant>;
    let (mut pace, mut notifies) = (Pace::new(), false);
    loop {
        // Many endpoints that join at once ring many times, so the thread pauses between two rounds. There is no pause
        // while a descriptor or a waker waits for news, because latency matters there.
        if !notifies && !shared.stop.load(Acquire) {
            std::thread::park_timeout(pace.pause(None)); // dropping the handle ends the pause
        }
        let rings = domain.board.bell(bell).rings(); // before the updates
        if shared.stop.load(Acquire) {
            return;
        }
        pace.begin();
        let (now_ns, is_probe) = (monotonic_ns(), Instant::now() >= next_probe);
        if is_probe {
            // The next probe tries again if this fails.
            let _ = domain.reap_dead();
            domain.forget_old_endpoints();
            next_probe = Instant::now() + domain.until_probe();
        }
        let (grown, tasks) = {
            let mut tasks = shared.tasks.lock().unwrap_or_else(PoisonError::into_inner);
            (tasks.grown(&domain.board), tasks.living(&domain.board))
        };
        grown.into_iter().for_each(|topic| domain.prefault_grown(topic));
        let is_due =
            |task: &&Task| is_probe || task.has_changed || task.work.due_ns().is_some_and(|due_ns| due_ns <= now_ns);
        tasks.iter().filter(is_due).for_each(|task| task.work.update(domain));
        if is_probe && !std::mem::replace(&mut is_registered, true) {
            asymmetric_fence::register(); // this takes 15 ms, which must not delay the first discoveries
        }
        let is_polling = poll_liveness(domain, shared, &tasks, &mut poll_until);
        let awaiting_news: Vec<&Task> = tasks.iter().filter(|task| task.work.awaits_news()).collect();
        notifies = !awaiting_news.is_empty();
        let sleepers = awaiting_news.iter().map(|task| &domain.board.line(task.topic).sleepers);
        let mut limit = next_probe.saturating_duration_since(Instant::now());
        if is_polling {
            limit = limit.min(LIVENESS_POLL_PERIOD);
        }
        if let Some(due_ns) = tasks.iter().filter_map(|task| task.work.due_ns()).min() {
            limit = limit.min(Duration::from_nanos(due_ns.saturating_sub(monotonic_ns())).max(MIN_PAUSE));
        }
        pace.end(domain);
        sleep::sleep(domain.board.bell(bell), rings, bell, sleepers, limit, || {
            awaiting_news.iter().filter(|task| task.work.notify_news()).count() > 0
        });
    }
}

/// Probes the processes of the endpoints from which a caller waits for an answer, and returns whether to probe again
/// soon. Polling continues for a while after the last answer, so that a client that makes one call after another does
/// not wake the thread for each call.
fn poll_liveness(domain: &Domain, shared: &ControlState, tasks: &[Task], poll_until: &mut Option<Instant>) -> bool {
    let now = Instant::now();
    let is_late = poll_until.is_some_and(|until| now >= until);
    if is_late {
        shared.is_polling.store(false, SeqCst); // before the loop: a task that begins later wakes the thread
        *poll_until = None;
    }
    let deaths: Vec<bool> = tasks.iter().filter_map(|task| task.work.has_unannounced_death(domain)).collect();
    if !deaths.is_empty() {
        shared.is_polling.store(true, SeqCst);
        *poll_until = Some(now + PROBE_PERIOD);
    }
    if deaths.contains(&true) {
        // The next period tries again if this fails.
        let _ = domain.reap_dead();
    }
    poll_until.is_some()
}
