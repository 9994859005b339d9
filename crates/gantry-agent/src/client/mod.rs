//! A client: its session, its objects, and the way between both.

mod counts;
mod objects;
mod outlet;
mod plan;
mod reading;
mod requests;

pub(crate) use counts::KeyText;
pub use counts::{ClientStatistics, Counts};

use crate::{
    clock::time_of_day,
    config::Config,
    context::{ClientCell, Context},
    log::{Level, Limiter},
    slots::HeapSlots,
    transport::Line,
};
use gantry::{Attachment, Collector};
use gantry_xrce::{
    session::{AgentSession, Link, Peer},
    stream::{HEADER_BYTES, MAX_SLOTS},
    time::Instant,
    wire::{Header, ObjectId, ObjectRequest, ResultStatus, StatusValue, StreamId},
};
use objects::Objects;
use outlet::Delivered;
use requests::Requests;
use std::{
    collections::VecDeque,
    sync::{Arc, Weak},
};

pub type Session = AgentSession<HeapSlots, HeapSlots, Vec<u8>, HeapSlots>;

/// The slots of the best-effort stream: it is emptied at once unless the transport is slow.
const BEST_EFFORT_SLOTS: usize = 2;
/// Copies of a CREATE_CLIENT arrive for so long. A board that is reset and asks again sooner is taken for one: its streams go on where those
/// of its earlier session were, so its first messages are lost.
const COPY_US: u32 = 100_000;
/// So often the streams are filled and emptied before others have their turn.
const MAX_ROUNDS: usize = 64;

/// A client that has a session.
pub struct Client {
    this: Weak<ClientCell>,
    session: Session,
    began: Instant,
    line: Line,
    objects: Objects,
    answers: VecDeque<Answer>,
    /// The outlet that was served last.
    last_served: ObjectId,
    counts: Counts,
    limiter: Limiter,
    /// The client is to be looked at then, unless something comes before.
    due: Instant,
    /// The line has had no room since then.
    blocked_since: Option<Instant>,
    /// The client ended its session.
    is_closed: Option<ObjectRequest>,
}

/// A status that is to be sent.
struct Answer {
    stream: StreamId,
    request: ObjectRequest,
    status: StatusValue,
}

fn new_session(peer: Peer, config: &Config, now: Instant) -> Session {
    // A header with the key takes 4 more of the bytes that the transport carries.
    let key_bytes = if peer.session.has_key() { 4 } else { 0 };
    let slot_bytes = usize::from(peer.mtu_bytes).saturating_sub(key_bytes) + HEADER_BYTES;
    let slots = |count| HeapSlots::new(count, slot_bytes);
    let assembly = vec![0; config.limits.message_bytes];
    let link = Link::new(slots(MAX_SLOTS), slots(MAX_SLOTS), assembly, slots(BEST_EFFORT_SLOTS));
    AgentSession::new(peer, link, now)
}

impl Client {
    pub fn new(this: Weak<ClientCell>, peer: Peer, line: Line, context: &Context) -> Self {
        let began = context.clock.now();
        let session = new_session(peer, &context.config, began);
        let due = session.deadline();
        context.ticker.set_due(context.clock.to_std(due));
        Self {
            this,
            session,
            began,
            line,
            objects: Objects::default(),
            answers: VecDeque::new(),
            last_served: ObjectId::INVALID,
            counts: Counts::default(),
            limiter: Limiter::new(),
            due,
            blocked_since: None,
            is_closed: None,
        }
    }

    /// The same client has begun its session again, perhaps at another address. Its objects stay, what it wanted to read does not.
    pub fn restart(&mut self, peer: Peer, line: Line, context: &Context) {
        self.began = context.clock.now();
        self.session = new_session(peer, &context.config, self.began);
        (self.line, self.blocked_since) = (line, None);
        self.answers.clear();
        self.set_due(self.session.deadline(), context);
        self.objects.each_outlet_after(ObjectId::INVALID, |_, outlet| outlet.reading = None);
    }

    /// Whether a CREATE_CLIENT from the client's address is another copy of the one that began its session, or of one before: the line
    /// may have doubled or delayed it, or the client may have asked again before it had the answer. A later one is of a board that was
    /// reset, whose streams begin anew; eProsima's client has the same number in each session.
    pub fn has_begun_as(&self, peer: &Peer, now: Instant) -> bool {
        let current = self.peer();
        let is_earlier = peer.session.0.wrapping_sub(current.session.0) > u8::MAX / 2; // numbers are counted up
        let is_copy = peer.session == current.session || is_earlier;
        is_copy && Peer { session: current.session, ..*peer } == *current && now < self.began.after_us(COPY_US)
    }

    pub fn peer(&self) -> &Peer {
        self.session.peer()
    }

    /// The client has moved to another address.
    pub fn move_to(&mut self, line: Line) {
        (self.line, self.blocked_since) = (line, None);
    }

    /// Takes a message of the session. Returns the request by which the client ended it.
    pub fn receive(&mut self, header: &Header, message: &[u8], context: &Arc<Context>) -> Option<ObjectRequest> {
        let now = context.clock.now();
        let Self { this, session, line, objects, answers, counts, limiter, is_closed, .. } = self;
        let key = session.peer().key;
        let mut requests = Requests { this, objects, answers, counts, limiter, line, is_closed, context, key, now };
        session.receive(header, message, now, time_of_day(), &mut |event| requests.handle(event));
        if self.is_closed.is_none() {
            self.pump(context);
        }
        self.is_closed
    }

    /// Attaches an outlet to the listener; `None` if it is gone.
    pub fn attach(&mut self, number: u64, collector: &mut Collector) -> Option<Option<Attachment>> {
        let outlet = self.objects.outlet(number)?;
        outlet.source.attach(collector).ok() // it fails if the process forked, and then there is no such thread
    }

    /// An outlet may have something to take.
    pub fn has_news(&mut self, number: u64, context: &Context) {
        if let Some(outlet) = self.objects.outlet(number) {
            outlet.has_news = true;
            self.pump(context);
        }
    }

    /// The line has taken what waited, of this client or of one that shares the line.
    pub fn has_room(&mut self, context: &Context) {
        self.blocked_since = None; // another client may fill the line first
        self.pump(context);
    }

    pub fn line(&self) -> &Line {
        &self.line
    }

    /// A line that takes nothing is given up as late as a client that does not answer.
    fn blocked_until(&self, since: Instant) -> Instant {
        since.after_us(self.peer().silence_us.saturating_mul(4))
    }

    /// Sends everything that can be sent now.
    pub fn pump(&mut self, context: &Context) {
        let now = context.clock.now();
        let mut has_more = true;
        for _ in 0..MAX_ROUNDS {
            self.answer();
            let has_room = self.line.has_room();
            if has_room {
                self.blocked_since = None; // a line that is full again at the end has still taken something
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

    fn set_due(&mut self, at: Instant, context: &Context) {
        self.due = at;
        context.ticker.set_due(context.clock.to_std(at));
    }

    /// A deadline has passed, perhaps of this client. Returns whether the client is gone.
    pub fn tick(&mut self, context: &Context) -> bool {
        let now = context.clock.now();
        if now < self.due {
            context.ticker.set_due(context.clock.to_std(self.due));
            return false;
        }
        // It was silent for too long, or takes nothing.
        let is_gone =
            self.session.is_gone(now) || self.blocked_since.is_some_and(|since| self.blocked_until(since) <= now);
        if !is_gone {
            self.pump(context);
        }
        is_gone
    }

    fn deadline(&self, now: Instant) -> Instant {
        if let Some(since) = self.blocked_since {
            return self.blocked_until(since);
        }
        let outlets = self.objects.outlets().filter_map(|outlet| outlet.deadline(now));
        outlets.chain([self.session.deadline()]).min().unwrap_or(now)
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

    /// Gives the session one message of each outlet. Returns whether there may be more.
    fn deliver(&mut self, now: Instant, context: &Context) -> bool {
        let mut has_more = false;
        let mut last_served = None;
        let Self { session, objects, counts, limiter, line, .. } = self;
        let key = session.peer().key;
        objects.each_outlet_after(self.last_served, |id, outlet| {
            match outlet.deliver(id, session, now, counts) {
                Delivered::Nothing => return,
                Delivered::One => last_served = last_served.or(Some(id)),
                Delivered::Lost(why) => {
                    let log = format_args!("{} at {line}: data of object {:#06x} is lost: {why}", KeyText(key), id.0);
                    limiter.log(&*context.config.log, Level::Warning, log);
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
                self.limiter.log(&*context.config.log, Level::Warning, log);
            }
        }
    }

    /// The client's objects are deleted.
    pub fn close(&mut self, context: &Context) {
        self.objects.clear(context);
    }

    pub fn statistics(&self) -> ClientStatistics {
        let overwritten = self.objects.outlets().map(|outlet| outlet.source.overwritten()).sum();
        ClientStatistics {
            key: self.peer().key,
            address: self.line.to_string(),
            objects: self.objects.len(),
            counts: Counts { overwritten, ..self.counts },
            link: self.session.link().counts(),
        }
    }
}
