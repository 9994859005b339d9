//! Probes: messages with the time 0 that publishers send before the start, to show that messages arrive.
//!
//! Probes are needed if the middleware does not count matched endpoints. Publishers send them from their creation until
//! the order `Go`. A subscription is matched when it has received a probe of each expected publisher. No count contains
//! probes: they are taken before the start, and the recorders ignore late ones. If the order `Go` reaches a
//! subscription late, real messages may arrive among the probes. They are kept for the recorder.

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

/// The largest number of messages that are taken in one check. The limit is needed because other programs may publish
/// without a pause.
const MOST_AT_ONCE: u32 = 1000;

/// Whether the message is a probe.
#[inline]
pub fn is_probe(taken: &Taken<'_>) -> bool {
    taken.time_ns == 0
}

/// Simulates work on a message for `work_ns` of the clock. Probes are exempt, so that they never queue up.
#[inline]
pub fn work_on(taken: &Taken<'_>, work_ns: i64) {
    if work_ns > 0 && !is_probe(taken) {
        work(work_ns);
    }
}

/// Messages that arrived before the start, when the recorder did not exist yet.
#[derive(Clone, Debug, Default)]
pub struct Early {
    /// The number of messages from publishers of other programs; they count as history.
    pub history: u64,
    /// The first and the last id of these messages, by publisher.
    pub ids: BTreeMap<[u8; 16], (u64, u64)>,
    /// The messages from publishers of this run, with their payloads.
    pub own: Vec<(Taken<'static>, Vec<u8>)>,
}

/// The messages that an endpoint has received before the start, and their publishers.
#[derive(Debug)]
pub struct Heard {
    sources: BTreeSet<[u8; 16]>,
    /// Whether the publishers of the topic belong to this run.
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

    /// Removes and returns the messages that are not probes.
    pub fn take_early(&mut self) -> Early {
        std::mem::take(&mut self.early)
    }
}

/// An endpoint before the start.
pub enum End<'a> {
    /// An endpoint that only sends.
    Publisher(&'a mut dyn Publisher),
    /// An endpoint that takes messages.
    Subscription(&'a mut dyn Subscription),
    /// An endpoint to which the middleware delivers messages. The second field is where its sink records them.
    Listener(&'a mut dyn Listener, &'a Mutex<Heard>),
    /// An endpoint in an executor. Its callback gets messages only after the start, so it has no probes.
    Received(&'a mut dyn Received),
    /// An endpoint that takes messages and sends them again.
    Relay(&'a mut Ends),
}

impl End<'_> {
    /// The object that reports the endpoint's matching.
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

/// The probes that an endpoint sends and receives.
#[derive(Debug)]
pub struct Probes {
    heard: Heard,
    next_ns: i64,
    /// The reason why the middleware refused the last probe, if it did.
    refusal: Option<String>,
}

impl Probes {
    /// Creates the state of an endpoint that has sent no probe yet.
    pub fn new(context: &Context) -> Probes {
        Probes { heard: Heard::new(&context.plan), next_ns: 0, refusal: None }
    }

    /// Sends a probe if the endpoint is a publisher and [`PROBE_INTERVAL_NS`] has passed since the last one.
    pub fn send(&mut self, context: &Context, end: &mut End<'_>) {
        let End::Publisher(publisher) = end else { return };
        let now_ns = now_ns();
        if now_ns >= self.next_ns {
            self.next_ns = now_ns + PROBE_INTERVAL_NS;
            let stamp = Stamp { time_ns: 0, id: 0, rate_hz: context.plan.pace.rate_hz() };
            self.refusal = publisher.publish(&mut Passed { stamp, touch: Touch::Stamp }).err();
        }
    }

    /// Takes the messages that have arrived. A relay sends them on.
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

    /// Whether the endpoint has received messages of all expected publishers. If the middleware does not tell
    /// publishers apart, a message of one publisher is enough.
    pub fn are_enough(&self, context: &Context, end: &End<'_>) -> bool {
        let expected = context.plan.expected as usize;
        let enough = if context.spec.capabilities.sources { expected } else { expected.min(1) };
        matches!(end, End::Publisher(_)) || self.heard.sources.len() >= enough
    }

    /// Removes and returns the messages that are not probes.
    pub fn take_early(&mut self) -> Early {
        self.heard.take_early()
    }

    /// Corrects the match status by the publishers whose probes arrived, and adds the reason if a probe was refused.
    pub fn explain(&self, context: &Context, end: &End<'_>, status: &mut MatchStatus) {
        if !self.are_enough(context, end) {
            let heard = self.heard.sources.len();
            status.matched = Matching::Count(heard);
            status.mismatches.push(match heard {
                0 => "no probe of a publisher arrived".to_owned(),
                heard => format!("probes of {heard} publishers arrived, and no probe of the other publishers"),
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
