//! The router of a key: it passes each sample to an `Inlet`, the local publisher that represents the sample's
//! publisher. The attachment of a sample has the publisher's GID.

use super::{Context, far_graph::FarEntity};
use crate::{payload, wire::Attachment};
use gantry::Gid;
use gantry_bridge::{Counts, FarSample, Inlet, lock};
use std::{
    collections::{HashMap, HashSet, VecDeque},
    sync::{Arc, Mutex},
    time::{Duration, Instant},
};
use zenoh::sample::{Sample, SampleKind};

/// The largest number of samples that wait until the token of their publisher arrives.
const MAX_STASHED: usize = 256;
/// The longest time for which a sample waits until the token of its publisher arrives. A sample may arrive first,
/// because tokens and samples have different queues.
const MAX_STASHED_TIME: Duration = Duration::from_secs(2);
/// The time after which the router guesses the publisher of an unknown GID: the only publisher of the sample's session.
const GUESS_AFTER: Duration = Duration::from_millis(500);

/// Finds the inlet (local publisher) for each sample of one key.
pub struct Router {
    state: Mutex<RouterState>,
    pub counts: Arc<Counts>,
    wake: Box<dyn Fn() + Send + Sync>,
}

#[derive(Default)]
struct RouterState {
    by_gid: HashMap<Gid, Arc<Inlet>>,
    /// The inlets by the session of their publisher, for implementations whose samples have other GIDs. `None` if a
    /// session has several publishers.
    by_session: HashMap<String, Option<Arc<Inlet>>>,
    /// The sessions of unknown GIDs whose publishers were guessed.
    guessed: HashMap<Gid, String>,
    /// Samples whose publishers have no token yet. To keep the order, samples that arrive during the replay of these
    /// samples are appended.
    stash: VecDeque<(Instant, Sample)>,
    is_replaying: bool,
    /// The publishers whose samples are dropped, because they reach the domain through another bridge.
    refused: HashSet<Gid>,
}

impl Router {
    pub fn new(context: &Context, name: &str) -> Router {
        let (state, counts) = (Mutex::default(), context.counts("in", name));
        Router { state, counts, wake: Box::new(context.wake()) }
    }

    pub fn set_inlets<'a>(
        &self,
        inlets: impl Iterator<Item = (&'a FarEntity, &'a Arc<Inlet>)>,
        refused: &HashSet<Gid>,
    ) {
        let mut state = lock(&self.state);
        state.refused.clone_from(refused);
        let before = state.stash.len();
        state.stash.retain(|(_, sample)| attachment(sample).is_none_or(|found| !refused.contains(&found.gid)));
        (state.stash.len()..before).for_each(|_| self.counts.duplicate());
        (state.by_gid, state.by_session) = Default::default();
        for (entity, inlet) in inlets {
            state.by_gid.extend(entity.gids().map(|gid| (gid, inlet.clone())));
            let of_session = state.by_session.entry(entity.token.session.clone());
            of_session.and_modify(|several| *several = None).or_insert_with(|| Some(inlet.clone()));
        }
        let RouterState { by_gid, by_session, guessed, .. } = &mut *state;
        guessed.retain(|gid, session| match by_session.get(session) {
            Some(Some(inlet)) => by_gid.insert(*gid, inlet.clone()).is_none(),
            _ => false,
        });
        state.is_replaying = true;
        let mut left = VecDeque::new();
        while let Some((since, sample)) = state.stash.pop_front() {
            let inlet = state.inlet(&sample, since.elapsed() > GUESS_AFTER);
            drop(state);
            match inlet {
                Some(inlet) => self.give(&inlet, &sample),
                None if since.elapsed() < MAX_STASHED_TIME => left.push_back((since, sample)),
                None => self.counts.disown(),
            }
            state = lock(&self.state);
        }
        (state.stash, state.is_replaying) = (left, false);
    }

    pub fn take(&self, sample: Sample) {
        if sample.kind() != SampleKind::Put {
            return;
        }
        let mut state = lock(&self.state);
        if !state.is_replaying
            && let Some(inlet) = state.inlet(&sample, false)
        {
            drop(state);
            return self.give(&inlet, &sample);
        }
        match attachment(&sample) {
            Some(attachment) if state.refused.contains(&attachment.gid) => return self.counts.duplicate(),
            Some(_) => {}
            None => return self.counts.malform(),
        }
        state.stash.push_back((Instant::now(), sample));
        if state.stash.len() > MAX_STASHED {
            state.stash.pop_front();
            self.counts.disown();
        }
        drop(state);
        (self.wake)();
    }

    fn give(&self, inlet: &Inlet, sample: &Sample) {
        let (Some(attachment), Some(length_bytes)) = (attachment(sample), payload::body_length(sample.payload()))
        else {
            return self.counts.malform();
        };
        let far = FarSample {
            gid: attachment.gid,
            sequence: attachment.sequence.cast_unsigned(),
            wall_ns: attachment.source_time_ns.cast_unsigned(),
            length_bytes,
        };
        inlet.publish(far, |body| payload::copy_body(sample.payload(), body));
    }
}

impl RouterState {
    /// Returns the inlet of a sample. If `guesses` is true, a sample with an unknown GID belongs to the only publisher
    /// of its session.
    fn inlet(&mut self, sample: &Sample, guesses: bool) -> Option<Arc<Inlet>> {
        let gid = attachment(sample)?.gid;
        if let Some(inlet) = self.by_gid.get(&gid) {
            return Some(inlet.clone());
        }
        let session = session(sample).filter(|_| guesses)?;
        let inlet = self.by_session.get(&session)?.clone()?;
        self.guessed.insert(gid, session);
        self.by_gid.insert(gid, inlet.clone());
        Some(inlet)
    }
}

fn attachment(sample: &Sample) -> Option<Attachment> {
    Attachment::from_bytes(&sample.attachment()?.to_bytes())
}

/// Returns the session id of a sample's publisher, in the form that tokens have.
fn session(sample: &Sample) -> Option<String> {
    let of_source = sample.source_info().map(|info| info.source_id().zid().to_string());
    of_source.or_else(|| {
        Some(zenoh::session::ZenohId::try_from(&sample.timestamp()?.get_id().to_le_bytes()[..]).ok()?.to_string())
    })
}
