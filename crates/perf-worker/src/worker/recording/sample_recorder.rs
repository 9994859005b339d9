//! The recorder of a subscription's samples. It decides whether a sample belongs to the statistics, and records its id,
//! its latencies and whether its payload is correct.
//!
//! Recording does not allocate, takes no lock and makes no system call. It reads the clock only if it checks the
//! payload.

use std::ops::Range;

use super::{drain::DrainMonitor, sources::Sources};
use crate::{
    backend::{OtherClock, Taken},
    clock::{SECOND_NS, now_ns},
    measure::{
        events::{Event, Trouble},
        loss::{Arrival, Sequences},
        tally::{Received, Tally},
    },
    pacing::Schedule,
    payload,
    run_spec::Touch,
    worker::{
        context::Context,
        matching::{
            Start,
            probe::{Early, is_probe},
        },
        reporting::rows::Rows,
    },
};

/// The recorder of a subscription.
pub struct SampleRecorder {
    /// The one-second rows of the subscription.
    pub rows: Rows,
    /// The ids of the samples that have arrived.
    pub sequences: Sequences,
    /// The start of the run.
    pub start_ns: i64,
    /// The time range of the statistics. A sample belongs to them if it was sent within this range.
    scope_ns: Range<i64>,
    /// Whether the last sample was sent within `scope_ns`.
    in_scope: bool,
    /// The schedule of this run's publishers, without their phases; `None` if other programs publish, because their
    /// schedules are not known.
    schedule: Option<Schedule>,
    /// The publishers of this run.
    sources: Sources,
    /// The clock of the times of reception; `None` if it is CLOCK_MONOTONIC.
    clock: Option<OtherClock>,
    /// Whether publishers or the receiver use another clock than CLOCK_MONOTONIC.
    has_other_clocks: bool,
    /// The first id that belongs to the statistics, if the schedule is known. This is the first id that is due within
    /// `scope_ns`. It becomes smaller if a publisher behind its schedule sends a smaller id within `scope_ns`. Phases
    /// are shorter than a period, so the id is the same for all publishers.
    first_id: Option<u64>,
    /// The limits for late and too late messages whose publisher is unknown or has no limits of its own.
    limits_ns: (u64, u64),
    /// Whether late and missing messages are also recorded as single events.
    tracking: bool,
    touch: Touch,
    /// Whether the back end may report the times of a sample's phases (serialised, arrived, in hand).
    has_phases: bool,
    /// Whether the run requests that samples are read in place.
    zero_copy: bool,
    /// The number of samples taken, without duplicates, even outside of the statistics.
    pub taken: u64,
    /// The number of probe messages that left the history unread before the start.
    overwritten_before: u64,
    /// The number of samples and probes that had left the history unread when the last sample was taken.
    overwritten: u64,
    /// Detects the end of the subscription.
    pub drain: DrainMonitor,
}

impl SampleRecorder {
    /// Creates the recorder of a subscription, and first records the `early` messages, which arrived before the start.
    /// `overwritten` is the number of messages that left the history before `start`. `clock` is the clock of the times
    /// of reception.
    pub fn new(
        context: &Context,
        start: &Start,
        clock: Option<OtherClock>,
        early: Early,
        overwritten: u64,
    ) -> SampleRecorder {
        let (spec, plan) = (&context.spec, &context.plan);
        let own = plan.publishers > 0;
        // Without probes, only samples of other programs can have left the history before the start. They count.
        let overwritten = if spec.has_probes() { overwritten } else { 0 };
        let start_ns = start.start_ns;
        // The range has an end only for publishers of this run, because publishers of other programs do not stop.
        let scope_start_ns = start_ns + i64::from(spec.left_out_s()) * SECOND_NS;
        let schedule = own.then(|| Schedule::new(start_ns, plan.pace));
        let sources = Sources::new(plan, &start.sources);
        let mut recorder = SampleRecorder {
            rows: Rows::new(context, start_ns),
            sequences: Sequences::new(own, plan.message.last_id),
            start_ns,
            scope_ns: scope_start_ns..if own { i64::MAX } else { spec.end_ns(start_ns) },
            in_scope: false,
            schedule,
            has_other_clocks: clock.is_some() || sources.have_other_clocks(),
            sources,
            clock,
            first_id: schedule.map(|schedule| schedule.due_before(scope_start_ns) + 1),
            limits_ns: (plan.late_ns, plan.too_late_ns),
            tracking: spec.tracking,
            touch: spec.touch,
            has_phases: spec.phases,
            zero_copy: spec.zero_copy,
            taken: 0,
            overwritten_before: overwritten,
            overwritten,
            drain: DrainMonitor::new(context, start_ns),
        };
        recorder.rows.open.received.history = early.history;
        for (source, (first, last)) in &early.ids {
            recorder.sequences.arrived(*source, *first, 0);
            recorder.sequences.arrived(*source, *last, 0);
        }
        for (taken, payload) in &early.own {
            recorder.record_delivered(&Taken { payload, ..*taken });
        }
        recorder
    }

    /// Records one sample on the endpoint's thread.
    pub fn record(&mut self, taken: &Taken<'_>) {
        if is_probe(taken) {
            return;
        }
        let converted = self.with_host_times(taken);
        let taken = converted.as_ref().unwrap_or(taken);
        // A thread that always has a sample to take never waits, so rows are sent to the reporting thread here as well
        // as in the wait.
        self.rows.until(taken.received_ns);
        self.count(taken);
    }

    /// Records one sample on a thread of the middleware. Such threads do not send rows to the reporting thread.
    pub fn record_delivered(&mut self, taken: &Taken<'_>) {
        // Probes come first, because the time in a probe (0) must not be converted.
        if is_probe(taken) {
            return;
        }
        let converted = self.with_host_times(taken);
        let taken = converted.as_ref().unwrap_or(taken);
        self.rows.end_until(taken.received_ns);
        self.count(taken);
    }

    /// The sample with all times converted to CLOCK_MONOTONIC; `None` if it needs no conversion.
    #[inline]
    fn with_host_times<'a>(&self, taken: &Taken<'a>) -> Option<Taken<'a>> {
        if !self.has_other_clocks {
            return None;
        }
        let received = |time_ns| OtherClock::host_ns(self.clock, time_ns);
        Some(Taken {
            time_ns: OtherClock::host_ns(self.sources.clock(&taken.source), taken.time_ns),
            received_ns: received(taken.received_ns),
            arrived_ns: taken.arrived_ns.map(received),
            in_hand_ns: taken.in_hand_ns.map(received),
            ..*taken
        })
    }

    /// Counts one sample. Its times must already be converted to CLOCK_MONOTONIC.
    fn count(&mut self, taken: &Taken<'_>) {
        let mut passed_over = taken.overwritten.saturating_sub(self.overwritten);
        // Threads of the middleware may deliver samples out of order, so the count in the sample may be lower than the
        // last one.
        self.overwritten = self.overwritten.max(taken.overwritten);
        let (id, arrival) = self.sequences.arrived(taken.source, taken.id, passed_over);
        self.drain.arrived(taken.received_ns, taken.received_ns.saturating_sub(taken.time_ns));
        self.taken += u64::from(arrival != Arrival::Duplicate);
        self.rows.open.received.history += u64::from(taken.time_ns < self.start_ns);
        // The time of sending decides whether a sample belongs to the statistics. Publishers use the same rule.
        let entering = !std::mem::replace(&mut self.in_scope, self.scope_ns.contains(&taken.time_ns));
        if !self.in_scope {
            return;
        }
        let (most, is_behind) = self.most_missing(id, entering);
        let Tally { received, latencies, responses, events, .. } = &mut *self.rows.open;
        // A publisher behind its schedule sends samples that were due before the statistics began. If such samples left
        // the history before its first sample arrived, they count as overwritten. (`SubscriptionFigures::overwritten`
        // never exceeds the number of lost samples, so the total stays right.)
        if let Arrival::New { missed } = arrival
            && !is_behind
        {
            passed_over = if missed > most { passed_over.min(most) } else { passed_over };
        }
        received.overwritten += passed_over;
        match arrival {
            Arrival::New { missed } => {
                let messages = missed.min(most);
                received.missed = received.missed.saturating_add(messages);
                if self.tracking && messages > 0 {
                    let trouble = Trouble::Missing { messages };
                    events.add(Event { at_ns: taken.received_ns, id: id.saturating_sub(messages), trouble });
                }
            }
            Arrival::Reordered => received.reordered += 1,
            Arrival::Duplicate => {
                received.duplicates += 1;
                return;
            }
        }
        add_sample(received, taken, self.zero_copy);
        let error_ns = |of| if self.has_other_clocks { OtherClock::difference_error_ns(of, self.clock) } else { 0 };
        let (error_ns, own_error_ns) = (error_ns(self.sources.clock(&taken.source)), error_ns(None));
        let (late_ns, too_late_ns) = self.sources.limits_ns(&taken.source).unwrap_or(self.limits_ns);
        match elapsed_ns(taken.time_ns, taken.received_ns, error_ns) {
            Some(latency_ns) => {
                received.latency_ns.add(latency_ns as f64);
                latencies.record(latency_ns);
                let trouble = classify(received, latency_ns, (late_ns, too_late_ns)).filter(|_| self.tracking);
                trouble.into_iter().for_each(|trouble| events.add(Event { at_ns: taken.received_ns, id, trouble }));
                if self.has_phases {
                    add_phases(received, taken);
                }
            }
            None => received.negative += 1,
        }
        let due_ns = self
            .schedule
            .and_then(|schedule| Some(schedule.due_ns(id.saturating_sub(1))? + self.sources.phase_ns(&taken.source)?));
        if let Some(response_ns) = due_ns.and_then(|due_ns| elapsed_ns(due_ns, taken.received_ns, own_error_ns)) {
            responses.record(response_ns);
            add_response(received, response_ns, (late_ns, too_late_ns));
        }
        if self.touch != Touch::Stamp {
            received.corrupt += u64::from(!payload::read(taken.payload, self.touch, id));
            received.read_ns.add((now_ns() - taken.received_ns) as f64);
        }
    }

    /// The largest number of samples before `id` that can be missing from the statistics: those that were due within
    /// `scope_ns`. The second value tells whether the publisher is behind its schedule: it then sends samples in
    /// `scope_ns` that were due before.
    #[inline]
    fn most_missing(&mut self, id: u64, entering: bool) -> (u64, bool) {
        match self.first_id {
            Some(first_id) if id < first_id => {
                self.first_id = Some(id);
                (0, true)
            }
            Some(first_id) => (id - first_id, false),
            None if entering && self.scope_ns.start > self.start_ns => (0, false),
            None => (u64::MAX, false),
        }
    }

    /// Whether all sent samples have been received or overwritten. `overwritten` is the number of messages that left
    /// the history unread.
    pub fn is_complete(&self, overwritten: u64) -> bool {
        self.drain.is_complete(self.taken + overwritten.saturating_sub(self.overwritten_before))
    }

    /// Adds the allocations that taking the last sample caused.
    pub fn add_allocations(&mut self, allocations: u64) {
        if self.in_scope {
            self.rows.open.received.allocations += allocations;
        }
    }

    /// Adds the samples that left the history since the last sample. `overwritten` is their total number until now.
    pub fn add_overwritten(&mut self, overwritten: u64) {
        self.rows.open.received.overwritten += overwritten.saturating_sub(self.overwritten);
        self.overwritten = self.overwritten.max(overwritten);
    }
}

/// Counts a latency if it is late or too late. Returns the event for the log, if any.
#[inline]
fn classify(received: &mut Received, latency_ns: u64, (late_ns, too_late_ns): (u64, u64)) -> Option<Trouble> {
    if latency_ns > too_late_ns {
        received.too_late += 1;
        Some(Trouble::TooLate { latency_ns, limit_ns: too_late_ns })
    } else if latency_ns > late_ns {
        received.late += 1;
        Some(Trouble::Late { latency_ns, limit_ns: late_ns })
    } else {
        None
    }
}

/// The time from `begin_ns` to `end_ns`. These may be readings of different clocks, with an error of at most
/// `error_ns`. A negative result within the error becomes 0; a more negative one becomes `None`.
#[inline]
fn elapsed_ns(begin_ns: i64, end_ns: i64, error_ns: i64) -> Option<u64> {
    let elapsed_ns = end_ns.saturating_sub(begin_ns);
    u64::try_from(if (-error_ns..0).contains(&elapsed_ns) { 0 } else { elapsed_ns }).ok()
}

/// Counts a sample that is in the statistics, and its bytes.
#[inline]
fn add_sample(received: &mut Received, taken: &Taken<'_>, zero_copy: bool) {
    received.samples += 1;
    received.bytes += taken.length_bytes;
    received.wire_bytes += taken.wire_bytes;
    received.copied += u64::from(zero_copy && !taken.loaned);
}

/// Adds the time from the moment at which the sample was due to its reception.
#[inline]
fn add_response(received: &mut Received, response_ns: u64, (late_ns, too_late_ns): (u64, u64)) {
    received.response_ns.add(response_ns as f64);
    received.late_response += u64::from(response_ns > late_ns && response_ns <= too_late_ns);
    received.too_late_response += u64::from(response_ns > too_late_ns);
}

/// Adds the durations of a sample's phases that the back end observed.
#[inline]
fn add_phases(received: &mut Received, taken: &Taken<'_>) {
    if let Some(arrived_ns) = taken.arrived_ns {
        received.transport_ns.add(arrived_ns.saturating_sub(taken.time_ns) as f64);
        let in_hand_ns = taken.in_hand_ns.unwrap_or(taken.received_ns);
        received.wake_up_ns.add(in_hand_ns.saturating_sub(arrived_ns) as f64);
    }
    if let Some(in_hand_ns) = taken.in_hand_ns {
        received.deserialise_ns.add(taken.received_ns.saturating_sub(in_hand_ns) as f64);
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicBool, AtomicU64};
    use std::sync::{Arc, mpsc};

    use super::*;
    use crate::{
        endpoint::{Endpoint, EndpointPlan},
        pacing::Pace,
        run_spec::tests::example,
        worker::{Flags, NOT_DRAINING, context::account::InstrumentAccount, placement::Placement},
    };

    /// The context of a subscription. The statistics of its run leave out no seconds. It gets no orders, and no thread
    /// reads its reports.
    fn context() -> Context {
        let mut spec = example();
        (spec.warmup_s, spec.ignore_s) = (0, 0);
        Context {
            plan: EndpointPlan::of_run(&spec, Endpoint::Subscription(0), "/topic"),
            placement: Placement::default(),
            spec: Arc::new(spec),
            row_delay_ns: 0,
            orders: mpsc::channel().1,
            flags: Arc::new(Flags { stop: AtomicBool::new(false), abandon: Arc::default() }),
            expected: Arc::new(AtomicU64::new(NOT_DRAINING)),
            outgoing: mpsc::sync_channel(1).0,
            account: InstrumentAccount::default(),
        }
    }

    #[test]
    fn messages_among_the_probes_are_not_missing_before_the_first_one() {
        let start = Start { start_ns: 1, sources: Vec::new(), early: Vec::new() };
        let mut context = context();
        context.plan.publishers = 0;
        let early = Early { history: 3, ids: [([0; 16], (5, 7))].into(), ..Early::default() };
        let mut recorder = SampleRecorder::new(&context, &start, None, early, 0);
        recorder.record_delivered(&Taken { id: 8, time_ns: 2, received_ns: 3, ..Taken::default() });
        let received = recorder.rows.open.received;
        assert_eq!((recorder.sequences.before_matched(), received.history, received.missed), (4, 3, 0));
    }

    #[test]
    fn samples_of_a_publisher_behind_its_schedule_leave_the_history_within_the_statistics() {
        const AT_NS: i64 = SECOND_NS + 1;
        let start = Start { start_ns: 0, sources: Vec::new(), early: Vec::new() };
        let mut context = context();
        Arc::get_mut(&mut context.spec).unwrap().warmup_s = 1;
        context.plan.pace = Pace { messages: 1000, per_ns: SECOND_NS };
        let recorder = || SampleRecorder::new(&context, &start, None, Early::default(), 0);
        let due = recorder().first_id.unwrap();
        assert!(due > 50, "the ids below were due in the warm-up");
        let counts = |samples: &[(u64, i64, u64)]| {
            let mut recorder = recorder();
            for &(id, time_ns, overwritten) in samples {
                let taken = Taken { id, time_ns, received_ns: time_ns + 1, overwritten, ..Taken::default() };
                recorder.record_delivered(&taken);
            }
            let received = recorder.rows.open.received;
            (received.samples, received.missed, received.overwritten)
        };
        assert_eq!(counts(&[(1, 1, 0), (10, AT_NS, 8), (20, AT_NS, 17), (30, AT_NS, 26)]), (3, 18, 26));
        // This publisher keeps its schedule: the samples missing before its first one were due in the warm-up.
        assert_eq!(counts(&[(1, 1, 0), (due, AT_NS, due - 2), (due + 3, AT_NS, due)]), (2, 2, 2));
    }

    #[test]
    fn overwritten_samples_count_once_in_whatever_order_threads_deliver_the_others() {
        let start = Start { start_ns: 1, sources: Vec::new(), early: Vec::new() };
        let mut recorder = SampleRecorder::new(&context(), &start, None, Early::default(), 0);
        for (id, overwritten) in [(8, 5), (6, 3), (9, 5), (7, 4)] {
            recorder.record_delivered(&Taken { id, overwritten, time_ns: 2, received_ns: 3, ..Taken::default() });
        }
        recorder.add_overwritten(4);
        recorder.add_overwritten(6);
        let received = recorder.rows.open.received;
        assert_eq!((received.samples, received.overwritten, received.lost()), (4, 6, 5));
    }
}
