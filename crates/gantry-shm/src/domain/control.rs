//! The control thread of a participant: maps newcomers, brings their pages in, watches for deaths and reaps, so that publish
//! and take never have to.
//!
//! Started by `participant`; works for what is [`ControlTask`]: the readers of a publisher, the publishers of a subscription.
//! It sleeps on its own bell on the board, which whoever joins or leaves a watched topic rings, and looks for deaths every
//! second, or in turn with others (`domain`); of those whose answer somebody waits for, more often. Invariant T1: it keeps the domain, never the participant, so that dropping a
//! participant can wait for its end.

use crate::{
    domain::{Domain, WATCH_PERIOD, board::TopicIndex},
    error::{Error, Result},
    os::{clock::monotonic_ns, signals},
    protocol::{
        sleep::{self, Side, WaiterIndex},
        sync::{Site, full_fence},
    },
};
use std::{
    sync::{
        Arc, Mutex, PoisonError, Weak,
        atomic::{AtomicBool, Ordering::*},
    },
    thread::JoinHandle,
    time::{Duration, Instant},
};

/// How often it looks whether those died whose answer somebody waits for.
const LIVENESS_POLL_PERIOD: Duration = Duration::from_millis(20);
/// Least time between two searches, and between two looks for time's sake.
const PAUSE: Duration = Duration::from_millis(1);
/// It calls no deep functions.
const STACK_BYTES: usize = 256 << 10;

/// What the control thread does for an endpoint.
pub(crate) trait ControlTask: Send + Sync {
    /// The topic whose joins and leaves matter.
    fn topic(&self) -> TopicIndex;
    /// Whose.
    fn side(&self) -> Side;
    /// Brings what the endpoint knows of others up to date. May block.
    fn update(&self, domain: &Arc<Domain>);
    /// When that is to be done even if nobody joined or left, CLOCK_MONOTONIC.
    fn due_ns(&self) -> Option<u64> {
        None
    }
    /// Whether the endpoint's user waits for what only its partners of now can do, and must know soon if one dies.
    fn polls_liveness(&self) -> bool {
        false
    }
    /// Whether a partner died and nobody said so yet.
    fn partner_died(&self, _domain: &Domain) -> bool {
        false
    }
    /// Whether the endpoint's user waits on a descriptor, on which nothing was announced yet.
    fn awaits_news(&self) -> bool {
        false
    }
    /// Announces on that descriptor if there are samples to take; returns whether there were.
    fn notify_news(&self) -> bool {
        false
    }
}

struct Shared {
    stop: AtomicBool,
    /// The thread looks at some partners every [`LIVENESS_POLL_PERIOD`], so it need not be called for one more.
    is_polling: AtomicBool,
    watched: Mutex<Vec<Weak<dyn ControlTask>>>,
}

/// The thread's handle; dropping it ends the thread.
pub(crate) struct Control {
    domain: Arc<Domain>,
    shared: Arc<Shared>,
    bell: WaiterIndex,
    thread: Option<JoinHandle<()>>,
}

impl Control {
    /// Starts the thread.
    pub(crate) fn start(domain: Arc<Domain>) -> Result<Control> {
        let bell = domain.control_waiter();
        let shared = Arc::new(Shared {
            stop: AtomicBool::new(false),
            is_polling: AtomicBool::new(false),
            watched: Mutex::new(Vec::new()),
        });
        let thread = std::thread::Builder::new().name("gantry-control".to_owned()).stack_size(STACK_BYTES);
        let (its_domain, its_shared) = (domain.clone(), shared.clone());
        // The program's signal handlers must not run on a thread that it does not know of.
        let thread = signals::while_blocked(|| thread.spawn(move || run(&its_domain, &its_shared, bell)))
            .map_err(|e| Error::system("start the control thread", e))?;
        Ok(Control { domain, shared, bell, thread: Some(thread) })
    }

    /// The caller then brings the endpoint up to date: what appears later rings.
    pub(crate) fn watch(&self, watched: &Arc<impl ControlTask + 'static>) {
        // Never taken back: a ring too many costs this process a look.
        sleep::enter(self.domain.board.line(watched.topic()).watchers(watched.side()), self.bell);
        full_fence(Site::SleepFence); // (3) the caller sees the generation, or who raised it sees our bit
        let weak: Weak<dyn ControlTask> = Arc::downgrade(watched) as Weak<dyn ControlTask>;
        self.shared.watched.lock().unwrap_or_else(PoisonError::into_inner).push(weak);
    }

    pub(crate) fn call(&self) {
        self.domain.board.bell(self.bell).ring();
    }

    /// Something began to watch closely. A system call if nothing did lately.
    pub(crate) fn wake_to_poll_liveness(&self) {
        // SeqCst, as the other's store before this: either the thread sees that store, or we see its.
        if !self.shared.is_polling.load(SeqCst) {
            self.call();
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
            return; // it dropped, or woke, who owned the last of us, and ends when it is done with that
        }
        self.call();
        // A panic there has been printed; nothing is left to be done for it.
        let _ = thread.join();
    }
}

fn run(domain: &Arc<Domain>, shared: &Shared, bell: WaiterIndex) {
    let (mut next_watch, mut round) = (Instant::now() + WATCH_PERIOD, 0);
    let mut poll_until = None::<Instant>;
    let (mut looked_at, mut announces) = (None::<Instant>, false);
    let mut seen_rings = None;
    loop {
        // Many who join at once call us many times; not if somebody waits on a descriptor, for whom time matters.
        if let (Some(since), false) = (looked_at.map(|at| at.elapsed()), announces) {
            std::thread::sleep(PAUSE.saturating_sub(since));
        }
        looked_at = Some(Instant::now());
        let rings = domain.board.bell(bell).rings(); // before we look
        if shared.stop.load(Acquire) {
            return;
        }
        let watched = living(shared);
        let now_ns = monotonic_ns();
        // If nobody rang, it is time for some, and the others need not be asked.
        let is_for_all = seen_rings.replace(rings) != Some(rings) || Instant::now() >= next_watch;
        let is_due =
            |watched: &&Arc<dyn ControlTask>| is_for_all || watched.due_ns().is_some_and(|due_ns| due_ns <= now_ns);
        watched.iter().filter(is_due).for_each(|watched| watched.update(domain));
        if Instant::now() >= next_watch {
            // What fails here is tried again next time.
            next_watch = Instant::now() + domain.watch_for_deaths(round).unwrap_or(WATCH_PERIOD);
            round += 1;
        }
        let is_polling = poll_liveness(domain, shared, &watched, &mut poll_until);
        let curious: Vec<&Arc<dyn ControlTask>> = watched.iter().filter(|watched| watched.awaits_news()).collect();
        announces = !curious.is_empty();
        let sleepers = curious.iter().map(|watched| &domain.board.line(watched.topic()).sleepers);
        let mut limit = next_watch.saturating_duration_since(Instant::now());
        if is_polling {
            limit = limit.min(LIVENESS_POLL_PERIOD);
        }
        if let Some(due_ns) = watched.iter().filter_map(|watched| watched.due_ns()).min() {
            limit = limit.min(Duration::from_nanos(due_ns.saturating_sub(monotonic_ns())).max(PAUSE));
        }
        sleep::sleep(domain.board.bell(bell), rings, bell, sleepers, limit, || {
            curious.iter().filter(|watched| watched.notify_news()).count() > 0
        });
    }
}

/// Looks at those whose answer somebody waits for; returns whether to do so again soon. It goes on for a while when nobody waits
/// any more: who asks again and again need not call it each time.
fn poll_liveness(
    domain: &Domain,
    shared: &Shared,
    watched: &[Arc<dyn ControlTask>],
    poll_until: &mut Option<Instant>,
) -> bool {
    let now = Instant::now();
    let is_late = poll_until.is_some_and(|until| now >= until);
    if is_late {
        shared.is_polling.store(false, SeqCst); // before the look: who begins after it calls us
        *poll_until = None;
    }
    let mut closely = watched.iter().filter(|watched| watched.polls_liveness()).peekable();
    if closely.peek().is_some() {
        shared.is_polling.store(true, SeqCst);
        *poll_until = Some(now + WATCH_PERIOD);
    }
    if closely.any(|watched| watched.partner_died(domain)) {
        // What fails here is tried again next time.
        let _ = domain.look_for_deaths();
    }
    poll_until.is_some()
}

/// What is still wanted.
fn living(shared: &Shared) -> Vec<Arc<dyn ControlTask>> {
    let mut watched = shared.watched.lock().unwrap_or_else(PoisonError::into_inner);
    let mut living = Vec::with_capacity(watched.len());
    watched.retain(|weak| weak.upgrade().map(|strong| living.push(strong)).is_some());
    living
}
