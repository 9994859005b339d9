//! The router of a topic: it passes each sample from the network to the `Inlet`, the local publisher that represents
//! the sample's publisher.
//!
//! Some RMWs give the messages of a publisher another GID than the graph has. If the GID of a message is not in the
//! graph for a while, the router guesses: it takes the first publisher without messages. Two publishers of one topic
//! may be confused then, but no sample is lost. The router never guesses for an RMW that once gave a message a GID of
//! the graph.

use crate::rmw::Taken;
use gantry::Gid;
use gantry_bridge::{Context, Counts, FarSample, Inlet};
use std::{
    collections::{BTreeMap, HashMap, HashSet, VecDeque},
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, Ordering::Relaxed},
    },
    time::{Duration, Instant},
};

/// The largest number of samples that wait until their publisher is in the graph.
const MAX_STASHED: usize = 256;
/// The largest number of bytes of these samples.
const MAX_STASHED_BYTES: usize = 64 << 20;
/// The longest time for which a sample waits until its publisher is in the graph.
const MAX_STASHED_TIME: Duration = Duration::from_secs(2);
/// The time after which the router guesses the publisher of a GID that is not in the graph.
const GUESS_AFTER: Duration = Duration::from_millis(500);

/// Finds the inlet (local publisher) for each sample of one topic.
pub struct Router {
    state: Mutex<State>,
    pub counts: Arc<Counts>,
    wake: Box<dyn Fn() + Send + Sync>,
    pub ids: Arc<Ids>,
}

/// Facts about the GIDs and sequence numbers in the messages of this RMW. Relaxed: the flags are hints, and no other
/// data depends on them.
#[derive(Default)]
pub struct Ids {
    /// True if a message had no sequence number. The router then cannot detect that two subscriptions received the same
    /// message.
    are_without_numbers: AtomicBool,
    /// True if a message had the GID of a publisher in the graph.
    are_of_graph: AtomicBool,
    /// True if the publisher of a message was guessed.
    are_guessed: AtomicBool,
}

impl Ids {
    /// True if messages have no sequence numbers.
    pub fn are_without_numbers(&self) -> bool {
        self.are_without_numbers.load(Relaxed)
    }
}

/// The inlet of a publisher on the network, and the local subscription whose counterpart (subscription on the network)
/// takes its samples.
pub struct Route {
    pub inlet: Arc<Inlet>,
    pub reader: Gid,
    /// The number of the last sample, which the router counts itself for an RMW without sequence numbers.
    last: u64,
}

#[derive(Default)]
struct State {
    routes: BTreeMap<Gid, Route>,
    /// Publishers whose messages have another GID than the graph: the graph's GID, by the GID in the messages.
    aliases: HashMap<Gid, Gid>,
    /// Samples whose publisher is not in the graph yet. To keep the order, later samples of the same publisher are
    /// appended, and all samples that arrive during the replay.
    stash: VecDeque<Stashed>,
    is_replaying: bool,
    /// The publishers whose samples are dropped, because they reach the domain through another bridge.
    refused: HashSet<Gid>,
}

struct Stashed {
    since: Instant,
    reader: Gid,
    taken: Taken,
    body: Box<[u8]>,
}

impl Route {
    pub fn new(inlet: Arc<Inlet>, reader: Gid) -> Route {
        Route { inlet, reader, last: 0 }
    }
}

impl Router {
    pub fn new(context: &Context, name: &str, ids: Arc<Ids>) -> Router {
        Router { state: Mutex::default(), counts: context.counts("in", name), wake: Box::new(context.wake()), ids }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Changes the routes, and then routes the samples that waited for them.
    pub fn change(&self, change: impl FnOnce(&mut BTreeMap<Gid, Route>)) {
        let mut state = self.lock();
        change(&mut state.routes);
        let State { routes, aliases, .. } = &mut *state;
        aliases.retain(|_, gid| routes.contains_key(gid));
        state.is_replaying = true;
        let mut left = VecDeque::new();
        while let Some(stashed) = state.stash.pop_front() {
            let guesses = stashed.since.elapsed() > GUESS_AFTER;
            let found = state.find(&stashed.taken, stashed.reader, guesses, &self.ids);
            drop(state);
            match found {
                Some(found) => self.give(found, &stashed.taken, &stashed.body),
                None if stashed.since.elapsed() < MAX_STASHED_TIME => left.push_back(stashed),
                None => self.counts.disown(),
            }
            state = self.lock();
        }
        (state.stash, state.is_replaying) = (left, false);
    }

    /// Sets the publishers whose samples are dropped, because they reach the domain through another bridge.
    pub fn refuse(&self, publishers: &HashSet<Gid>) {
        let mut state = self.lock();
        if state.refused != *publishers {
            state.refused.clone_from(publishers);
        }
        let before = state.stash.len();
        state.stash.retain(|stashed| !publishers.contains(&stashed.taken.publisher));
        (state.stash.len()..before).for_each(|_| self.counts.duplicate());
    }

    /// True if samples wait for their publishers.
    pub fn is_waiting(&self) -> bool {
        !self.lock().stash.is_empty()
    }

    /// Routes a sample. `reader` is the local subscription whose counterpart on the network received the sample.
    pub fn take(&self, reader: Gid, taken: &Taken, body: Option<&[u8]>) {
        let Some(body) = body else { return self.counts.malform() };
        if taken.sequence.is_none() {
            self.ids.are_without_numbers.store(true, Relaxed);
        }
        let mut state = self.lock();
        if state.refused.contains(&taken.publisher) {
            return self.counts.duplicate();
        }
        let is_queued = state.is_replaying || state.stash.iter().any(|other| other.taken.publisher == taken.publisher);
        let guesses = self.ids.are_guessed.load(Relaxed);
        if !is_queued && let Some(found) = state.find(taken, reader, guesses, &self.ids) {
            drop(state);
            return self.give(found, taken, body);
        }
        let (taken, body) = (*taken, body.into());
        state.stash.push_back(Stashed { since: Instant::now(), reader, taken, body });
        let mut bytes: usize = state.stash.iter().map(|stashed| stashed.body.len()).sum();
        while state.stash.len() > MAX_STASHED || bytes > MAX_STASHED_BYTES {
            let Some(oldest) = state.stash.pop_front() else { break };
            bytes -= oldest.body.len();
            self.counts.disown();
        }
        drop(state);
        (self.wake)();
    }

    fn give(&self, (route, gid, sequence): Found, taken: &Taken, body: &[u8]) {
        let Some(inlet) = route else { return };
        let far = FarSample { gid, sequence, wall_ns: taken.wall_ns, length_bytes: body.len() };
        inlet.publish(far, |target| target.copy_from_slice(body.get(..target.len()).unwrap_or_default()));
    }
}

/// The inlet of a sample, the GID of its publisher, and its sequence number. The inlet is `None` if the sample is a
/// duplicate from another counterpart, in an RMW without sequence numbers.
type Found = (Option<Arc<Inlet>>, Gid, u64);

impl State {
    fn find(&mut self, taken: &Taken, reader: Gid, guesses: bool, ids: &Ids) -> Option<Found> {
        let gid = if self.routes.contains_key(&taken.publisher) {
            ids.are_of_graph.store(true, Relaxed);
            taken.publisher
        } else if let Some(gid) = self.aliases.get(&taken.publisher) {
            *gid
        } else if guesses && !ids.are_of_graph.load(Relaxed) {
            let has_none =
                |gid: &Gid, route: &Route| route.last == 0 && !self.aliases.values().any(|known| known == gid);
            let gid = *self.routes.iter().find(|(gid, route)| route.reader == reader && has_none(gid, route))?.0;
            ids.are_guessed.store(true, Relaxed);
            self.aliases.insert(taken.publisher, gid);
            gid
        } else {
            return None;
        };
        let route = self.routes.get_mut(&gid)?;
        // Duplicates with sequence numbers may pass, because the inlet drops them. So no sample is lost when the
        // route's counterpart ends.
        if route.reader != reader && taken.sequence.is_none() {
            return Some((None, gid, 0));
        }
        route.last = taken.sequence.unwrap_or(route.last + 1);
        Some((Some(route.inlet.clone()), gid, route.last))
    }
}
