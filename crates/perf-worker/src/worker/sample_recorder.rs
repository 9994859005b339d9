//! The recorder of samples: it checks whether a sample counts, and records its id, its latencies and the state of its payload.
//!
//! A sample costs no allocation, lock or system call. The clock is read once more if the payload is read.

use std::ops::Range;

use super::{
    Context,
    drain::DrainMonitor,
    matching::Start,
    probe::{Early, is_probe},
    rows::Rows,
};
use crate::{
    backend::Taken,
    clock::{SECOND_NS, now_ns},
    endpoint::{EndpointPlan, SourcePhase},
    measure::{
        loss::{Arrival, Sequences},
        tally::Tally,
    },
    pacing::Schedule,
    payload,
    run_spec::Touch,
};

/// The phases of the publishers.
enum Phases {
    /// All have this one.
    Same(i64),
    /// Each has its own, in the order of the sources.
    Own(Vec<SourcePhase>),
}

impl Phases {
    fn new(plan: &EndpointPlan, known: &[SourcePhase]) -> Phases {
        if plan.publishers < 2 {
            return Phases::Same(plan.phase_ns);
        }
        let mut known = known.to_vec();
        known.sort_by_key(|of| of.source);
        Phases::Own(known)
    }

    /// The phase of a publisher; `None` if the middleware does not tell.
    #[inline]
    fn of_ns(&self, source: &[u8; 16]) -> Option<i64> {
        match self {
            Phases::Same(phase_ns) => Some(*phase_ns),
            Phases::Own(known) => {
                let index = known.binary_search_by_key(source, |of| of.source).ok()?;
                known.get(index).map(|of| of.phase_ns)
            }
        }
    }
}

/// The recorder of a subscription.
pub struct SampleRecorder {
    /// The rows.
    pub rows: Rows,
    /// The ids that were seen.
    pub sequences: Sequences,
    /// The start of the run.
    pub start_ns: i64,
    /// The time of the statistics: samples sent within it count.
    scope_ns: Range<i64>,
    /// The last sample was sent within that time.
    in_scope: bool,
    /// The schedule of this run's publishers without their phases; that of others is not known.
    schedule: Option<Schedule>,
    /// The phases of its publishers, which have one each.
    phases: Phases,
    /// The first id that is due within the time of the statistics, if the schedule is known. A phase is less than a period, so it is
    /// the same for all.
    first_id: Option<u64>,
    late_ns: u64,
    too_late_ns: u64,
    touch: Touch,
    /// Samples are to be read in place.
    zero_copy: bool,
    /// Samples taken, independent of when they were sent; duplicates not counted.
    pub taken: u64,
    /// Probes that left the history.
    overwritten_before: u64,
    /// Samples and probes that had left the history when the last sample was taken.
    overwritten: u64,
    /// Monitors the end.
    pub drain: DrainMonitor,
}

impl SampleRecorder {
    /// The recorder of a subscription that begins at `start`, with the `early` messages; so many have left its history.
    pub fn new(context: &Context, start: &Start, early: Early, overwritten: u64) -> SampleRecorder {
        let (spec, plan) = (&context.spec, &context.plan);
        let own = plan.publishers > 0;
        // Without probes they were samples of other programs.
        let overwritten = if spec.has_probes() { overwritten } else { 0 };
        let start_ns = start.start_ns;
        // This run's publishers stop at its end; those of other programs do not.
        let scope_start_ns = start_ns + i64::from(spec.left_out_s()) * SECOND_NS;
        let schedule = own.then(|| Schedule::new(start_ns, plan.pace));
        let mut recorder = SampleRecorder {
            rows: Rows::new(context, start_ns),
            sequences: Sequences::new(own, plan.message.last_id),
            start_ns,
            scope_ns: scope_start_ns..if own { i64::MAX } else { spec.end_ns(start_ns) },
            in_scope: false,
            schedule,
            phases: Phases::new(plan, &start.phases),
            first_id: schedule.map(|schedule| schedule.due_before(scope_start_ns) + 1),
            late_ns: plan.late_ns,
            too_late_ns: plan.too_late_ns,
            touch: spec.touch,
            zero_copy: spec.zero_copy,
            taken: 0,
            overwritten_before: overwritten,
            overwritten,
            drain: DrainMonitor::new(context, start_ns),
        };
        recorder.rows.open.received.history = early.history;
        for (taken, payload) in &early.own {
            recorder.record_delivered(&Taken { payload, ..*taken });
        }
        recorder
    }

    /// Records one sample on the endpoint's thread.
    pub fn record(&mut self, taken: &Taken<'_>) {
        // A thread that always finds a sample hands over here.
        self.rows.until(taken.received_ns);
        self.record_delivered(taken);
    }

    /// Records one sample on a thread of the middleware, which hands over no rows.
    pub fn record_delivered(&mut self, taken: &Taken<'_>) {
        if is_probe(taken) {
            return;
        }
        self.rows.end_until(taken.received_ns);
        let mut passed_over = taken.overwritten.saturating_sub(self.overwritten);
        self.overwritten = taken.overwritten;
        let (id, arrival) = self.sequences.arrived(taken.source, taken.id, passed_over);
        self.drain.arrived(taken.received_ns, taken.received_ns.saturating_sub(taken.time_ns));
        self.taken += u64::from(arrival != Arrival::Duplicate);
        let Tally { received, latencies, responses, .. } = &mut *self.rows.open;
        received.history += u64::from(taken.time_ns < self.start_ns);
        // The time of sending decides whether a sample counts, for subscriptions and publishers alike.
        let entering = !std::mem::replace(&mut self.in_scope, self.scope_ns.contains(&taken.time_ns));
        if !self.in_scope {
            return;
        }
        // Samples that are missing before the first one that counts, count only if they were due within the time of the statistics.
        let most = match self.first_id {
            Some(first_id) => id.saturating_sub(first_id),
            None if entering && self.scope_ns.start > self.start_ns => 0,
            None => u64::MAX,
        };
        if let Arrival::New { missed } = arrival {
            passed_over = if missed > most { passed_over.min(most) } else { passed_over };
        }
        received.overwritten += passed_over;
        match arrival {
            Arrival::New { missed } => received.missed = received.missed.saturating_add(missed.min(most)),
            Arrival::Reordered => received.reordered += 1,
            Arrival::Duplicate => {
                received.duplicates += 1;
                return;
            }
        }
        received.samples += 1;
        received.bytes += taken.length_bytes;
        received.copied += u64::from(self.zero_copy && !taken.loaned);
        match u64::try_from(taken.received_ns.saturating_sub(taken.time_ns)) {
            Ok(latency_ns) => {
                received.latency_ns.add(latency_ns as f64);
                latencies.record(latency_ns);
                received.late += u64::from(latency_ns > self.late_ns && latency_ns <= self.too_late_ns);
                received.too_late += u64::from(latency_ns > self.too_late_ns);
            }
            Err(_) => received.negative += 1,
        }
        let due_ns = self
            .schedule
            .and_then(|schedule| Some(schedule.due_ns(id.saturating_sub(1))? + self.phases.of_ns(&taken.source)?));
        if let Some(response_ns) = due_ns.and_then(|due_ns| u64::try_from(taken.received_ns - due_ns).ok()) {
            received.response_ns.add(response_ns as f64);
            responses.record(response_ns);
            received.late_response += u64::from(response_ns > self.late_ns && response_ns <= self.too_late_ns);
            received.too_late_response += u64::from(response_ns > self.too_late_ns);
        }
        if self.touch != Touch::Stamp {
            received.corrupt += u64::from(!payload::read(taken.payload, self.touch, id));
            received.read_ns.add((now_ns() - taken.received_ns) as f64);
        }
    }

    /// Whether all samples that were sent have been received or overwritten; so many have left the history.
    pub fn is_complete(&self, overwritten: u64) -> bool {
        self.drain.is_complete(self.taken + overwritten.saturating_sub(self.overwritten_before))
    }

    /// Adds the allocations for the last sample.
    pub fn add_allocations(&mut self, allocations: u64) {
        if self.in_scope {
            self.rows.open.received.allocations += allocations;
        }
    }

    /// Adds the samples that left the history since the last sample.
    pub fn add_overwritten(&mut self, overwritten: u64) {
        self.rows.open.received.overwritten += overwritten.saturating_sub(self.overwritten);
        self.overwritten = overwritten;
    }
}
