//! The callback of a node's subscription. It records the message, simulates work, records the latencies of chains that
//! end here, and triggers publishers.

use std::sync::{Arc, Mutex, PoisonError};

use super::{origin::Origin, trigger::Trigger};
use crate::{
    backend::{Sink, Taken},
    clock::work_cpu,
    endpoint::{ChainLink, Endpoint, EndpointPlan},
    measure::{histogram::Latencies, moments::Moments},
    worker::{matching::probe::is_probe, protocol::ChainReport, recording::shared_recorder::SharedRecorder},
};

/// The state of a subscription's callback.
pub struct Receiver {
    recorder: Arc<SharedRecorder>,
    endpoint: Endpoint,
    work_ns: i64,
    links: Vec<ChainLink>,
    triggers: Vec<Arc<Trigger>>,
    /// The chains that end at this subscription.
    ends: Mutex<Vec<End>>,
}

/// The latencies of a chain from its first messages to their reception by this subscription.
struct End {
    link: ChainLink,
    oldest_ns: Moments,
    oldest: Latencies,
    newest_ns: Moments,
    newest: Latencies,
}

impl Receiver {
    /// Creates the receiver of a subscription. `triggers` are all triggers of the process; some of them may have this
    /// subscription as an input.
    pub fn new(plan: &EndpointPlan, triggers: &[Arc<Trigger>]) -> Receiver {
        let end = |link: &ChainLink| End {
            link: link.clone(),
            oldest_ns: Moments::default(),
            oldest: Latencies::coarse(),
            newest_ns: Moments::default(),
            newest: Latencies::coarse(),
        };
        Receiver {
            // In an executor, `work_ns` is CPU time, which the receiver itself spends. The recorder's own simulated
            // work is therefore set to 0.
            recorder: Arc::new(SharedRecorder::new(&EndpointPlan { work_ns: 0, ..plan.clone() })),
            endpoint: plan.endpoint,
            work_ns: plan.work_ns,
            links: plan.chains.clone(),
            triggers: triggers.iter().filter(|trigger| trigger.has(plan.endpoint)).cloned().collect(),
            ends: Mutex::new(plan.chains.iter().filter(|link| link.ends).map(end).collect()),
        }
    }

    /// The recorder of this subscription.
    pub fn recorder(&self) -> &SharedRecorder {
        &self.recorder
    }

    /// Reports the latencies of the chains that end at this subscription.
    pub fn report(&self) -> Vec<ChainReport> {
        let ends = self.ends.lock().unwrap_or_else(PoisonError::into_inner);
        ends.iter().map(End::report).collect()
    }
}

impl Sink for Receiver {
    fn taken(&self, taken: &Taken<'_>) {
        self.recorder.taken(taken);
        if is_probe(taken) {
            return;
        }
        if !self.links.is_empty() {
            let mut ends = self.ends.lock().unwrap_or_else(PoisonError::into_inner);
            ends.iter_mut().for_each(|end| end.taken(taken));
        }
        work_cpu(self.work_ns);
        self.triggers.iter().for_each(|trigger| trigger.taken(self.endpoint, &self.links, taken));
    }

    fn failed(&self, sentence: String) {
        self.recorder.failed(sentence);
    }
}

impl End {
    fn taken(&mut self, taken: &Taken<'_>) {
        let Some(origin) = Origin::read(taken, &self.link) else { return };
        let since = |time_ns: i64| u64::try_from(taken.received_ns - time_ns).unwrap_or(0);
        let (oldest_ns, newest_ns) = (since(origin.oldest_ns), since(origin.newest_ns));
        self.oldest_ns.add(oldest_ns as f64);
        self.oldest.record(oldest_ns);
        self.newest_ns.add(newest_ns as f64);
        self.newest.record(newest_ns);
    }

    fn report(&self) -> ChainReport {
        ChainReport {
            chain: self.link.chain.clone(),
            oldest_ns: self.oldest_ns,
            oldest: self.oldest.cells(),
            newest_ns: self.newest_ns,
            newest: self.newest.cells(),
        }
    }
}
