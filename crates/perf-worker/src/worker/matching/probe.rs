//! Probes: messages with the time 0, which show before the start that messages arrive.
//!
//! A middleware that does not count matched endpoints needs probes. Publishers send them from their creation until
//! the order `Go`; a subscription is matched when it has received a probe of each publisher that it expects.
//! Probes are in no count: they are taken before the start, and the recorders ignore late probes. If the order
//! `Go` comes late, a message of this run may arrive among the probes; this message is kept for the recorder.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Mutex, PoisonError};

use super::relay_ends::{Ends, Passed};
use crate::{
    backend::{Listener, Matched, Matching, Publisher, Received, Sent, Stamp, Subscription, Taken},
    clock::{now_ns, work},
    endpoint::EndpointPlan,
    run_spec::Touch,
    worker::{
        context::Context,
        protocol::{MatchStatus, times::PROBE_INTERVAL_NS},
    },
};

/// The most messages that are taken at once: other programs may publish without a pause.
const MOST_AT_ONCE: u32 = 1000;

/// Whether the message is a probe.
#[inline]
pub fn is_probe(taken: &Taken<'_>) -> bool {
    taken.time_ns == 0
}

/// Keeps an endpoint busy with a message for this time by the clock. A probe takes no time, so that probes never queue
/// up.
#[inline]
pub fn work_on(taken: &Taken<'_>, work_ns: i64) {
    if work_ns > 0 && !is_probe(taken) {
        work(work_ns);
    }
}

/// Messages that were received before the recorder existed.
#[derive(Clone, Debug, Default)]
pub struct Early {
    /// The number of messages of other programs, which count as history.
    pub history: u64,
    /// The first and the last id of each publisher of other programs.
    pub ids: BTreeMap<[u8; 16], (u64, u64)>,
    /// The messages of this run, with their payloads.
    pub own: Vec<(Taken<'static>, Vec<u8>)>,
}

/// The messages that an endpoint receives before the start, and their publishers.
#[derive(Debug)]
pub struct Heard {
    sources: BTreeSet<[u8; 16]>,
    /// Whether the expected publishers belong to this run.
    own: bool,
    early: Early,
}

impl Heard {
    /// Creates an empty record of received messages.
    pub fn new(plan: &EndpointPlan) -> Heard {
        Heard { sources: BTreeSet::new(), own: plan.publishers > 0, early: Early::default() }
    }

    /// Records a message.
    pub fn record(&mut self, taken: &Taken<'_>) {
        self.sources.insert(taken.source);
        if is_probe(taken) {
            return;
        }
        if self.own {
            self.early.own.push((taken.without_payload(), taken.payload.to_vec()));
        } else {
            self.early.history += 1;
            self.early.ids.entry(taken.source).or_insert((taken.id, taken.id)).1 = taken.id;
        }
    }

    /// Removes and returns the messages that are no probes.
    pub fn take_early(&mut self) -> Early {
        std::mem::take(&mut self.early)
    }
}

/// An endpoint before the start.
pub enum End<'a> {
    /// An endpoint that sends.
    Publisher(&'a mut dyn Publisher),
    /// An endpoint that takes messages.
    Subscription(&'a mut dyn Subscription),
    /// An endpoint to which the middleware delivers; the sink records its messages.
    Listener(&'a mut dyn Listener, &'a Mutex<Heard>),
    /// An endpoint whose messages a callback of an executor gets, after the start only. It has no probes.
    Received(&'a mut dyn Received),
    /// An endpoint that takes messages and sends them on.
    Relay(&'a mut Ends),
}

impl End<'_> {
    /// The state of the endpoint's matching.
    pub fn matching(&mut self) -> &mut dyn Matched {
        match self {
            End::Publisher(publisher) => *publisher,
            End::Subscription(subscription) => *subscription,
            End::Listener(listener, _) => *listener,
            End::Received(received) => *received,
            End::Relay(ends) => *ends,
        }
    }
}

/// The probes of an endpoint.
#[derive(Debug)]
pub struct Probes {
    heard: Heard,
    next_ns: i64,
    /// The last refusal of the middleware.
    refusal: Option<String>,
}

impl Probes {
    /// Creates the probes of an endpoint; none is sent yet.
    pub fn new(context: &Context) -> Probes {
        Probes { heard: Heard::new(&context.plan), next_ns: 0, refusal: None }
    }

    /// Sends a probe, if it is time to.
    pub fn send(&mut self, context: &Context, end: &mut End<'_>) {
        let End::Publisher(publisher) = end else { return };
        let now_ns = now_ns();
        if now_ns >= self.next_ns {
            self.next_ns = now_ns + PROBE_INTERVAL_NS;
            let stamp = Stamp { time_ns: 0, id: 0, rate_hz: context.plan.pace.rate_hz() };
            self.refusal = publisher.publish(&mut Passed { stamp, touch: Touch::Stamp }).err();
        }
    }

    /// Takes the messages that have arrived; a relay sends them on.
    pub fn receive(&mut self, context: &Context, end: &mut End<'_>) {
        for _ in 0..MOST_AT_ONCE {
            let heard = &mut self.heard;
            let taken = match end {
                End::Publisher(_) | End::Received(_) => return,
                End::Listener(_, shared) => {
                    let shared = shared.lock().unwrap_or_else(PoisonError::into_inner);
                    heard.sources.clone_from(&shared.sources);
                    return;
                }
                End::Subscription(subscription) => subscription.take(&mut |taken| heard.record(taken)),
                End::Relay(Ends { subscription, publisher }) => {
                    let mut passed_on = Ok(Sent::default());
                    let taken = subscription.take(&mut |taken| {
                        heard.record(taken);
                        passed_on = publisher.publish(&mut Passed::on(context, taken));
                    });
                    taken.and_then(|taken| passed_on.map(|_| taken))
                }
            };
            match taken {
                Ok(true) => {}
                Ok(false) => return,
                Err(sentence) => {
                    self.refusal = Some(sentence);
                    return;
                }
            }
        }
    }

    /// Whether an endpoint has received messages of all publishers that it expects or, if the middleware does not
    /// distinguish publishers, of any publisher.
    pub fn are_enough(&self, context: &Context, end: &End<'_>) -> bool {
        let expected = context.plan.expected as usize;
        let enough = if context.spec.capabilities.sources { expected } else { expected.min(1) };
        matches!(end, End::Publisher(_)) || self.heard.sources.len() >= enough
    }

    /// Removes and returns the messages that were no probes.
    pub fn take_early(&mut self) -> Early {
        self.heard.take_early()
    }

    /// Adds the publishers whose messages were received, and the refusal of a probe, to the match status.
    pub fn explain(&self, context: &Context, end: &End<'_>, status: &mut MatchStatus) {
        if !self.are_enough(context, end) {
            let heard = self.heard.sources.len();
            status.matched = Matching::Count(heard);
            status.mismatches.push(match heard {
                0 => "no probe of a publisher arrived".to_owned(),
                heard => format!("probes of {heard} publishers arrived and not of the others"),
            });
        }
        let refused = |sentence| format!("the middleware refused a probe: {sentence}");
        status.mismatches.extend(self.refusal.as_ref().map(refused));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{endpoint::Endpoint, run_spec::tests::example};

    #[test]
    fn messages_of_this_run_are_kept_for_the_recorder_and_others_are_history() {
        let probe = Taken { source: [1; 16], ..Taken::default() };
        let message = Taken { source: [2; 16], time_ns: 5, id: 3, payload: &[7, 8], ..Taken::default() };
        for (publishers, history, own) in [(1, 0, 2), (0, 2, 0)] {
            let plan = EndpointPlan::of_run(&example(), Endpoint::Subscription(0), "/topic");
            let mut heard = Heard::new(&EndpointPlan { publishers, ..plan });
            [&probe, &message, &message, &probe].into_iter().for_each(|taken| heard.record(taken));
            assert_eq!(heard.sources.len(), 2);
            let early = heard.take_early();
            assert_eq!((early.history, early.own.len()), (history, own));
            assert!(early.own.iter().all(|(taken, payload)| (taken.id, &payload[..]) == (3, &[7, 8])));
        }
    }
}
