//! A client: its session, its objects, and the messages between them.

mod counts;
mod jobs;
mod objects;
mod outlet;
mod parcel;
mod plan;
mod rate;
mod reading;
mod refusal;
mod requests;
mod sending;
mod silence;
mod slots;
mod taken;

pub(crate) use counts::KeyText;
pub use counts::{ClientStatistics, Counts};
pub(crate) use jobs::run as carry_out_jobs;
pub(crate) use rate::Rate;

use crate::{clock::time_of_day, config::Config, context::Context, link::ClientLink, log::Limiter};
use gantry::{Attachment, Collector};
use gantry_xrce::{
    session::{AgentSession, Link, Peer},
    stream::{HEADER_BYTES, MAX_SLOTS},
    time::Instant,
    wire::{Header, ObjectId, ObjectRequest, StatusValue, StreamId},
};
use jobs::Jobs;
use objects::{Object, Objects};
use parcel::Parcel;
use requests::{MAX_REQUESTS, Requests};
use silence::Silence;
use slots::{HeapBytes, HeapSlots};
use std::{
    collections::VecDeque,
    sync::{Arc, Mutex, Weak},
};

pub type Session = AgentSession<HeapSlots, HeapSlots, HeapBytes, HeapSlots>;

/// The number of slots of the best-effort stream. This stream is emptied at once, except if the transport is slow.
const BEST_EFFORT_SLOTS: usize = 2;
/// The time within which an equal CREATE_CLIENT counts as a copy. If a board is reset and logs in again within this
/// time, the streams of the earlier session continue, so the board's first messages are lost.
const COPY_US: u32 = 100_000;
/// The number of objects that a client may create at once. It equals the largest number of objects that a client may
/// have. Topics, publishers and subscribers do not count.
const CREATIONS_AT_ONCE: u32 = 256;
/// The number of objects that a client may create per second after the first [`CREATIONS_AT_ONCE`].
const CREATIONS_PER_S: u32 = 50;
/// A client behind its lock. A thread with this lock waits neither for Gantry's control path (discovery, creation of
/// entities) nor for the lock of the table of clients.
pub type ClientCell = Mutex<Client>;

/// A client that has a session.
pub struct Client {
    this: Weak<ClientCell>,
    session: Session,
    began: Instant,
    line: ClientLink,
    objects: Objects,
    answers: VecDeque<Answer>,
    /// A long message of which the session has only some fragments so far.
    parcel: Option<Box<Parcel>>,
    /// The length of the last message that was sent in fragments; `None` after the client has acknowledged all
    /// messages.
    long_bytes: Option<usize>,
    jobs: Jobs,
    /// The limit for the rate at which the client may create or replace objects. Topics, publishers and subscribers do
    /// not count.
    creations: Rate,
    /// The identifier of the outlet (data reader, requester or replier) that was served last.
    last_served: ObjectId,
    counts: Counts,
    limiter: Limiter,
    /// The time at which the ticker thread checks the client, unless a message arrives earlier.
    due: Instant,
    silence: Silence,
    /// The time since which the line accepts no bytes.
    blocked_since: Option<Instant>,
    /// The request by which the client ended its session.
    is_closed: Option<ObjectRequest>,
    /// Whether the client is no longer in the table of clients.
    is_over: bool,
}

/// The action that follows a message of a client. The lock of the client must be released before the action.
#[must_use]
pub enum Next {
    Nothing,
    /// A worker carries out the waiting requests (see [`carry_out_jobs`]).
    Work(Weak<ClientCell>),
    /// The client has ended its session by this request.
    Close(ObjectRequest),
}

/// A status that waits for room in the client's session.
struct Answer {
    stream: StreamId,
    request: ObjectRequest,
    status: StatusValue,
}

fn new_session(peer: Peer, config: &Config, now: Instant) -> Session {
    // A key makes the message header 4 bytes longer, and the MTU includes these 4 bytes.
    let key_bytes = if peer.session.has_key() { 4 } else { 0 };
    let slot_bytes = usize::from(peer.mtu_bytes).saturating_sub(key_bytes) + HEADER_BYTES;
    let slots = |count| HeapSlots::new(count, slot_bytes);
    let assembly = HeapBytes::new(config.limits.message_bytes);
    let link = Link::new(slots(MAX_SLOTS), slots(MAX_SLOTS), assembly, slots(BEST_EFFORT_SLOTS));
    AgentSession::new(peer, link, now)
}

impl Client {
    pub fn new(this: Weak<ClientCell>, peer: Peer, line: ClientLink, context: &Context) -> Self {
        let began = context.clock.now();
        let session = new_session(peer, &context.config, began);
        let due = session.deadline();
        context.ticker.set_due(context.clock.to_std(due));
        Self {
            this,
            session,
            began,
            line,
            objects: Objects::new(context.memory.for_another()),
            answers: VecDeque::new(),
            parcel: None,
            long_bytes: None,
            jobs: Jobs::default(),
            creations: Rate::new(CREATIONS_AT_ONCE, CREATIONS_PER_S, began),
            last_served: ObjectId::INVALID,
            counts: Counts::default(),
            limiter: Limiter::new(),
            due,
            silence: Silence::new(began),
            blocked_since: None,
            is_closed: None,
            is_over: false,
        }
    }

    /// Begins a new session of the same client, perhaps at another address. The client's objects stay, but its
    /// READ_DATA requests end.
    pub fn restart(&mut self, peer: Peer, line: ClientLink, context: &Context) {
        self.began = context.clock.now();
        self.session = new_session(peer, &context.config, self.began);
        (self.line, self.blocked_since) = (line, None);
        self.silence = Silence::new(self.began);
        self.answers.clear();
        self.forget_jobs(context);
        (self.parcel, self.long_bytes) = (None, None);
        self.set_due(self.session.deadline(), context);
        self.objects.each_outlet_after(ObjectId::INVALID, |_, outlet| outlet.reading = None);
    }

    /// Whether a CREATE_CLIENT from the client's address is a copy of the one that began this session: the line may
    /// have doubled or delayed it, or the client may have repeated it. Any other CREATE_CLIENT comes from a board that
    /// was reset, so the streams must begin again. eProsima's client uses the same session number each time, so only
    /// the time or a boot nonce distinguishes the two cases.
    pub fn has_begun_as(&self, peer: &Peer, now: Instant) -> bool {
        let current = self.peer();
        let is_recent = now < self.began.after_us(COPY_US);
        let is_copy = match peer.session == current.session {
            true => is_recent || peer.boot_nonce.is_some(),
            // Session numbers are counted up, so a copy of an earlier CREATE_CLIENT has a smaller number.
            false => is_recent && peer.session.0.wrapping_sub(current.session.0) > u8::MAX / 2,
        };
        is_copy && Peer { session: current.session, ..*peer } == *current
    }

    pub fn peer(&self) -> &Peer {
        self.session.peer()
    }

    /// Notes that the client has moved to another address.
    pub fn move_to(&mut self, line: ClientLink) {
        (self.line, self.blocked_since) = (line, None);
    }

    /// Whether another host with the same key may take over the client's session: the agent asked the client twice
    /// for a sign of life and got no answer.
    pub fn yields(&mut self, context: &Context) -> bool {
        let now = context.clock.now();
        let (yields, asks) = self.silence.is_challenged(now);
        if asks {
            self.session.ask();
            self.pump(context);
        }
        yields
    }

    /// Handles a message of the session.
    pub fn receive(&mut self, header: &Header, message: &[u8], context: &Arc<Context>) -> Next {
        if self.is_over {
            return Next::Nothing; // the client was removed while this message waited for the client's lock
        }
        let now = context.clock.now();
        self.silence.heard(now);
        let (mut requests, session) = self.split(context, now);
        session.receive(header, message, now, time_of_day(), &mut |event| requests.handle(event));
        if let Some(request) = self.is_closed {
            return Next::Close(request);
        }
        self.pump(context);
        if self.jobs.begin() { Next::Work(self.this.clone()) } else { Next::Nothing }
    }

    /// The parts of the client that carry out requests, without the session.
    fn requests<'a>(&'a mut self, context: &'a Arc<Context>) -> Requests<'a> {
        self.split(context, context.clock.now()).0
    }

    fn split<'a>(&'a mut self, context: &'a Arc<Context>, now: Instant) -> (Requests<'a>, &'a mut Session) {
        let Self { this, session, line, objects, answers, jobs, creations, counts, limiter, is_closed, .. } = self;
        let key = session.peer().key;
        let left = MAX_REQUESTS;
        let requests = Requests {
            this,
            objects,
            answers,
            jobs,
            creations,
            counts,
            limiter,
            line,
            is_closed,
            context,
            key,
            now,
            left,
        };
        (requests, session)
    }

    /// Attaches an outlet (a data reader, requester or replier) to the listener of its domain. Returns `None` if the
    /// outlet does not exist any more.
    pub fn attach(&mut self, number: u64, collector: &mut Collector) -> gantry::Result<Option<Attachment>> {
        self.objects.outlet(number).map_or(Ok(None), |outlet| outlet.source.attach(collector))
    }

    /// Notes that an outlet (a data reader, requester or replier) may have a message for the client, and sends this
    /// message.
    pub fn has_news(&mut self, number: u64, context: &Context) {
        if let Some(outlet) = self.objects.outlet(number) {
            outlet.has_news = true;
            self.pump(context);
        }
    }

    /// Notes that the line has accepted the waiting bytes. They may belong to another client on the same line.
    pub fn has_room(&mut self, context: &Context) {
        self.blocked_since = None; // the line may be full again already, with bytes of another client
        self.pump(context);
    }

    pub fn line(&self) -> &ClientLink {
        &self.line
    }

    /// Ends the client. Returns its entities, which the caller must destroy without holding the client's lock.
    #[must_use]
    pub fn close(&mut self, context: &Context) -> Vec<Object> {
        self.is_over = true;
        self.forget_jobs(context);
        self.objects.take_all(context)
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
