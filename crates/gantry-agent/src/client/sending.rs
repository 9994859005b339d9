//! The messages that the agent sends to a client: answers, data, and the session's own messages.

use super::{Answer, Client, KeyText, outlet::Delivered};
use crate::{clock::time_of_day, context::Context, log::Level};
use gantry_xrce::{time::Instant, wire::ResultStatus};

/// The number of times that a client's streams are filled and emptied before other clients have their turn.
const MAX_ROUNDS: usize = 64;

impl Client {
    /// The time at which the agent gives up a line that has accepted nothing since `since`. The agent waits for the
    /// line as long as for a client that does not answer.
    fn blocked_until(&self, since: Instant) -> Instant {
        since.after_us(self.peer().silence_us.saturating_mul(4))
    }

    /// Sends all messages that can be sent now.
    pub fn pump(&mut self, context: &Context) {
        let now = context.clock.now();
        let mut has_more = true;
        for _ in 0..MAX_ROUNDS {
            self.answer();
            let has_room = self.line.has_room();
            if has_room {
                self.blocked_since = None; // the line has accepted bytes, even if it is full again after this call
            }
            has_more = has_room && self.deliver(now, context);
            self.transmit(now, context);
            if !has_more {
                break;
            }
        }
        self.blocked_since = (!self.line.has_room()).then(|| self.blocked_since.unwrap_or(now));
        self.set_due(if has_more { now } else { self.deadline(now) }, context);
    }

    pub(super) fn set_due(&mut self, at: Instant, context: &Context) {
        self.due = at;
        context.ticker.set_due(context.clock.to_std(at));
    }

    /// Does the work that is due for this client. Returns whether the client is gone.
    pub fn tick(&mut self, context: &Context) -> bool {
        let now = context.clock.now();
        if now < self.due {
            context.ticker.set_due(context.clock.to_std(self.due));
            return false;
        }
        // The client was silent for too long, or its line accepts nothing.
        let is_gone =
            self.session.is_gone(now) || self.blocked_since.is_some_and(|since| self.blocked_until(since) <= now);
        if !is_gone {
            self.pump(context);
        } else if let Some(bytes) = self.long_bytes {
            let (key, line) = (KeyText(self.session.peer().key), &self.line);
            let why = "eProsima's client stops for good if a message in fragments is longer than its input history; \
                       give the client a longer history (RMW_UXRCE_STREAM_HISTORY_INPUT times its MTU), or publish \
                       shorter messages";
            let log =
                format_args!("{key} at {line}: the last message to this client had fragments ({bytes} bytes): {why}");
            self.limiter.log(&context.config.log, Level::Warning, log);
        }
        is_gone
    }

    fn deadline(&self, now: Instant) -> Instant {
        if let Some(since) = self.blocked_since {
            return self.blocked_until(since);
        }
        let outlets = self.objects.outlets().filter_map(|outlet| outlet.deadline(now));
        outlets.chain([self.session.deadline()]).chain(self.silence.deadline()).min().unwrap_or(now)
    }

    fn answer(&mut self) {
        while let Some(Answer { stream, request, status }) = self.answers.front() {
            let result = ResultStatus { status: *status, implementation: 0 };
            if self.session.status(*stream, *request, result).is_err() {
                return;
            }
            self.answers.pop_front();
        }
    }

    /// Moves at most one message of each outlet (a data reader, requester or replier) into the session. Returns whether
    /// more messages may be ready.
    fn deliver(&mut self, now: Instant, context: &Context) -> bool {
        let mut has_more = false;
        let mut last_served = None;
        if self.silence.asks(now) {
            self.session.ask();
        }
        let is_stopped = self.silence.stops_best_effort(now);
        let Self { silence, session, objects, counts, limiter, line, parcel, long_bytes, .. } = self;
        let (key, mtu_bytes) = (session.peer().key, usize::from(session.peer().mtu_bytes));
        *long_bytes = long_bytes.filter(|_| session.link().unacknowledged() > 0);
        *parcel = parcel.take().and_then(|parcel| parcel.go_on(session)).map(Box::new);
        objects.each_outlet_after(self.last_served, |id, outlet| {
            let is_best_effort = outlet.reading.as_ref().is_some_and(|reading| reading.stream.is_best_effort());
            if is_best_effort && is_stopped {
                return;
            }
            let before = counts.delivered_bytes;
            match outlet.deliver(id, session, now, counts) {
                Delivered::Nothing => return,
                Delivered::Message { length, rest } => {
                    last_served = last_served.or(Some(id));
                    if is_best_effort {
                        silence.sent(counts.delivered_bytes - before);
                    }
                    *long_bytes = Some(length).filter(|&length| length > mtu_bytes).or(*long_bytes);
                    *parcel = rest.or_else(|| parcel.take());
                }
                Delivered::Lost(why) => {
                    let log = format_args!("{} at {line}: data of object {:#06x} is lost: {why}", KeyText(key), id.0);
                    limiter.log(&context.config.log, Level::Warning, log);
                }
            }
            has_more = true;
        });
        self.last_served = last_served.unwrap_or(self.last_served);
        has_more
    }

    fn transmit(&mut self, now: Instant, context: &Context) {
        while self.line.has_room() {
            let Some(message) = self.session.transmit(now, time_of_day()) else { return };
            if let Err(error) = self.line.send(message) {
                self.counts.unsent += 1;
                let (key, line) = (KeyText(self.session.peer().key), &self.line);
                let log = format_args!("{key} at {line}: a message could not be sent: {error}");
                self.limiter.log(&context.config.log, Level::Warning, log);
            }
        }
    }
}
