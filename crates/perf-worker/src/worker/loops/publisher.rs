//! The publisher's loop. It sends messages on an open-loop schedule and stamps each one right before it is sent.
//!
//! The schedule does not depend on earlier messages, so a delay shows as a late message. Between the due time and the
//! publish the loop does not allocate, lock or report, and makes no system call but the sleep. Rows (figures of one
//! second each) are sent to the reporting thread once a second.

use std::num::NonZeroU64;
use std::sync::atomic::Ordering;

use super::{
    message::{Message, NO_STAMP, SentMessage},
    refusals::Refusals,
};
use crate::{
    backend::{Publisher, Session, Stamp},
    clock::{SECOND_NS, now_ns, sleep_until},
    measure::allocations::counted,
    pacing::Schedule,
    worker::{
        context::Context,
        matching::{probe::End, wait_for_start},
        protocol::{EndpointReport, times::CATCH_UP_NS},
        reporting::rows::Rows,
    },
};

/// The longest sleep of the publisher before it checks again whether the run has ended.
const SLICE_NS: i64 = SECOND_NS / 10;

/// Creates the publisher, waits for matching and for the start, publishes, and returns when the run is over.
pub fn run(context: &Context, session: &dyn Session) -> Result<(), String> {
    let mut publisher = create(context, session)?;
    let Some(start) = wait_for_start(&mut [(context, End::Publisher(&mut *publisher))])? else { return Ok(()) };
    let mut publisher_loop = PublisherLoop::new(context, publisher, start.start_ns);
    publisher_loop.publish_all(&mut sleep)?;
    context.finish(publisher_loop.report());
    // The publisher's memory must stay readable until the subscriptions have taken the last samples.
    context.wait_for_end();
    Ok(())
}

/// Creates the publisher on this thread.
fn create(context: &Context, session: &dyn Session) -> Result<Box<dyn Publisher>, String> {
    sleep_precisely();
    session.publisher(&context.spec, &context.plan)
}

/// Reduces the timer slack of this thread to the minimum, so that its sleeps end on time.
pub fn sleep_precisely() {
    // The default timer slack of 50 µs would make every message late. If the process may not change the slack, it
    // stays.
    let _ = rustix::thread::set_current_timer_slack(NonZeroU64::new(1));
}

/// The work after each message and while no message is due, for example: subscriptions on this thread take messages.
/// The arguments are the present time and the time until which the work may sleep, ns. If the second time is not later
/// than the first, the work must not sleep.
pub type Meanwhile<'a> = dyn FnMut(i64, i64) -> Result<(), String> + 'a;

/// The work on a thread without subscriptions: sleeping.
pub fn sleep(now_ns: i64, until_ns: i64) -> Result<(), String> {
    if until_ns > now_ns {
        sleep_until(until_ns);
    }
    Ok(())
}

/// A publisher and its state while it publishes.
pub struct PublisherLoop<'a> {
    context: &'a Context,
    publisher: Box<dyn Publisher>,
    schedule: Schedule,
    /// The rate in the stamps of the messages, see [`Stamp::rate_hz`].
    rate_hz: u32,
    start_ns: i64,
    end_ns: i64,
    rows: Rows,
    matched: bool,
    /// The reasons why no subscription is matched; updated until a subscription is matched.
    mismatches: Vec<String>,
    ever_matched: bool,
    next_check_ns: i64,
    refusals: Refusals<'a>,
}

impl<'a> PublisherLoop<'a> {
    /// Creates the loop of a publisher whose first message is due at `start_ns` plus the publisher's phase.
    pub fn new(context: &'a Context, mut publisher: Box<dyn Publisher>, start_ns: i64) -> Self {
        let spec = &context.spec;
        // An error of the middleware is ignored here: it occurs again at the next check, which returns it.
        let matched = context.plan.private || publisher.matched().is_ok_and(|matching| !matching.is_none());
        PublisherLoop {
            context,
            publisher,
            schedule: Schedule::new(start_ns + context.plan.phase_ns, context.plan.pace),
            rate_hz: context.plan.pace.rate_hz(),
            start_ns,
            end_ns: spec.end_ns(start_ns),
            rows: Rows::new(context, start_ns),
            matched,
            mismatches: Vec::new(),
            ever_matched: matched,
            next_check_ns: start_ns,
            refusals: Refusals::new(context),
        }
    }

    /// Publishes until the end of the run or the order `Stop`.
    pub fn publish_all(&mut self, meanwhile: &mut Meanwhile<'_>) -> Result<(), String> {
        // The start is slightly in the future, so a publisher without a rate must also wait for it.
        self.idle_until(self.start_ns, meanwhile)?;
        let mut index = 0;
        while !self.is_stopped() {
            let due_ns = self.schedule.due_ns(index);
            let awake_ns = self.idle_until(due_ns.unwrap_or(0).min(self.end_ns), meanwhile)?;
            // Messages that were due before the end may still be sent for a while after it, so that a stall near the
            // end loses no sample.
            let due_at_end = due_ns.is_none_or(|due_ns| due_ns >= self.end_ns);
            let over_ns = if due_at_end { 0 } else { CATCH_UP_NS };
            if self.is_stopped() || awake_ns >= self.end_ns.saturating_add(over_ns) {
                break;
            }
            self.publish_one(index, due_ns, awake_ns)?;
            index += 1;
            self.update_matched(awake_ns)?;
            let mut done_ns = awake_ns;
            // Without a rate, messages have no due times, so the clock is not read here.
            if let Some(next_due_ns) = self.schedule.due_ns(index) {
                done_ns = now_ns();
                self.rows.open.sent.reserve_ns.add((next_due_ns - done_ns) as f64);
            }
            meanwhile(done_ns, done_ns)?;
        }
        let now_ns = now_ns();
        // A message that the publisher was preparing when the order `Stop` arrived does not count as unsent.
        let begun = index + u64::from(self.is_stopped());
        self.rows.open.sent.unsent = self.schedule.due_before(now_ns.min(self.end_ns)).saturating_sub(begun);
        self.rows.last(now_ns);
        Ok(())
    }

    fn publish_one(&mut self, index: u64, due_ns: Option<i64>, awake_ns: i64) -> Result<(), String> {
        let spec = &self.context.spec;
        let stamp = Stamp { time_ns: 0, id: index + 1, rate_hz: self.rate_hz };
        let mut draft = Message { stamp, touch: spec.touch };
        let (published, allocated) = counted(spec.check_memory, || self.publisher.publish(&mut draft));
        self.rows.open.sent.allocations += allocated.allocations;
        let sent = match published {
            Ok(sent) => sent,
            Err(sentence) => {
                self.rows.open.sent.refused += 1;
                return self.refusals.count("refused messages", "a message was refused", &sentence);
            }
        };
        let sent_ns = draft.stamp.time_ns;
        if sent_ns == 0 {
            return Err(NO_STAMP.to_owned());
        }
        self.refusals.reset();
        self.rows.until(sent_ns);
        let row = &mut self.rows.open;
        row.sent.unmatched += u64::from(!self.matched);
        let (bytes, is_loan) = (self.context.plan.message.bytes as u64, spec.zero_copy);
        SentMessage { sent, sent_ns, awake_ns, returned_ns: None, due_ns, bytes, is_loan }.count(row);
        Ok(())
    }

    /// Sleeps until `time_ns` or the order `Stop`, and sends rows to the reporting thread meanwhile. Returns the
    /// present time.
    fn idle_until(&mut self, time_ns: i64, meanwhile: &mut Meanwhile<'_>) -> Result<i64, String> {
        loop {
            let now_ns = now_ns();
            self.rows.until(now_ns);
            if now_ns >= time_ns || self.is_stopped() {
                return Ok(now_ns);
            }
            self.update_matched(now_ns)?;
            meanwhile(now_ns, time_ns.min(self.rows.hand_over_ns()).min(now_ns + SLICE_NS))?;
        }
    }

    /// Checks whether subscriptions are matched, at most once in each [`SLICE_NS`]. Does nothing if all endpoints of
    /// the topic belong to this run. Not called between the due time of a message and its publish.
    fn update_matched(&mut self, now_ns: i64) -> Result<(), String> {
        if self.context.plan.private || now_ns < self.next_check_ns {
            return Ok(());
        }
        self.next_check_ns = now_ns + SLICE_NS;
        self.matched = !self.publisher.matched()?.is_none();
        self.ever_matched |= self.matched;
        if self.ever_matched {
            self.mismatches.clear();
            return Ok(());
        }
        let found = self.publisher.mismatches();
        // The reasons are kept even after the mismatched subscriptions have disappeared.
        if !found.is_empty() {
            self.mismatches = found;
        }
        Ok(())
    }

    fn is_stopped(&self) -> bool {
        self.context.flags.stop.load(Ordering::Relaxed) || self.context.flags.is_abandoned()
    }

    /// The publisher's report at the end of the run.
    pub fn report(&mut self) -> EndpointReport {
        EndpointReport { mismatches: std::mem::take(&mut self.mismatches), ..EndpointReport::default() }
    }
}
