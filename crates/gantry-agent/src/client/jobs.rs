//! Jobs: requests of a client that wait until earlier requests of the client are done. A worker thread carries out jobs
//! without holding the client's lock.

use super::{
    Client, ClientCell,
    counts::KeyText,
    objects::{Building, Built, Object, Site},
    refusal::Refusal,
};
use crate::{context::Context, lock::lock, log::Level};
use gantry_xrce::{
    session::AgentEvent,
    wire::{
        ByteOrder, ClientKey, Create, Flags, Header, MessageBuilder, ObjectRequest, Payload, ReadData, SessionId,
        StatusValue, StreamId, parse,
    },
};
use std::{
    collections::VecDeque,
    sync::{Arc, Weak},
};

/// The largest number of waiting requests of a client.
const MAX_JOBS: usize = 256;
/// The largest number of bytes in the waiting requests of a client.
const MAX_BYTES: usize = 1 << 20;

/// A waiting request. It owns its bytes; a request that need not wait borrows its bytes from the received message.
pub enum Job {
    Create { stream: StreamId, flags: Flags, message: Vec<u8> },
    Delete { stream: StreamId, request: ObjectRequest },
    Write { stream: StreamId, request: ObjectRequest, order: ByteOrder, data: Vec<u8> },
    Read { stream: StreamId, message: Vec<u8> },
}

/// The waiting requests of a client, in order.
#[derive(Default)]
pub struct Jobs {
    queue: VecDeque<Job>,
    bytes: usize,
    /// Whether a worker is carrying out a request.
    is_running: bool,
    /// A number that changes with each session, so that answers to requests of an earlier session are dropped.
    session: u64,
}

/// The part of a request that is done without holding the client's lock.
pub enum Work {
    Build { building: Box<Building>, replaced: Vec<Object>, stream: StreamId, request: ObjectRequest },
    Destroy { objects: Vec<Object>, stream: StreamId, request: ObjectRequest },
}

/// The result of a [`Work`].
pub enum Done {
    Built { built: Result<Box<Built>, Refusal>, stream: StreamId, request: ObjectRequest },
    Destroyed { stream: StreamId, request: ObjectRequest },
}

impl Job {
    fn bytes(&self) -> usize {
        match self {
            Self::Create { message, .. } | Self::Read { message, .. } => message.len(),
            Self::Write { data, .. } => data.len(),
            Self::Delete { .. } => 0,
        }
    }

    /// Passes the request to `handle`.
    pub fn read(&self, handle: &mut dyn FnMut(AgentEvent<'_>)) {
        match self {
            Self::Create { stream, flags, message } => {
                if let Some(create) = read::<Create<'_>>(message) {
                    handle(AgentEvent::Create { stream: *stream, flags: *flags, create });
                }
            }
            Self::Delete { stream, request } => {
                handle(AgentEvent::Delete { stream: *stream, request: *request });
            }
            Self::Write { stream, request, order, data } => {
                handle(AgentEvent::Write { stream: *stream, request: *request, order: *order, data });
            }
            Self::Read { stream, message } => {
                if let Some(read) = read::<ReadData<'_>>(message) {
                    handle(AgentEvent::Read { stream: *stream, read });
                }
            }
        }
    }
}

/// Writes a payload as a separate message with a header and one submessage. Returns `None` if the payload is too long
/// for a submessage.
pub fn message<'p, P: Payload<'p>>(payload: &P) -> Option<Vec<u8>> {
    let mut memory = vec![0; 512];
    loop {
        let mut builder =
            MessageBuilder::new(&mut memory, &Header::streamless(SessionId::CLIENT), ByteOrder::Little).ok()?;
        if builder.add(Flags::NONE, payload).is_ok() {
            let length = builder.bytes();
            memory.truncate(length);
            memory.shrink_to_fit();
            return Some(memory);
        }
        if memory.len() > 1 << 17 {
            return None;
        }
        memory.resize(memory.len() * 4, 0);
    }
}

fn read<'a, P: Payload<'a>>(message: &'a [u8]) -> Option<P> {
    parse(message).ok()?.1.next()?.ok()?.read().ok()
}

impl Jobs {
    pub fn is_empty(&self) -> bool {
        self.queue.is_empty() && !self.is_running
    }

    /// Whether a waiting request may replace or delete an object.
    pub fn may_change_objects(&self) -> bool {
        self.queue.iter().any(|job| match job {
            Job::Create { flags, .. } => flags.has(Flags::REPLACE),
            Job::Delete { .. } => true,
            Job::Write { .. } | Job::Read { .. } => false,
        })
    }

    /// Adds a request if there is room for it. Returns whether there was room.
    pub fn push(&mut self, job: Job) -> bool {
        if self.queue.len() >= MAX_JOBS || self.bytes + job.bytes() > MAX_BYTES {
            return false;
        }
        self.bytes += job.bytes();
        self.queue.push_back(job);
        true
    }

    pub fn pop(&mut self) -> Option<Job> {
        let job = self.queue.pop_front()?;
        self.bytes -= job.bytes();
        Some(job)
    }

    /// Removes all waiting requests, because the session has ended or begins again. Returns the number of requests, and
    /// the number of WRITE_DATA among them.
    pub fn clear(&mut self) -> (usize, usize) {
        let messages = self.queue.iter().filter(|job| matches!(job, Job::Write { .. })).count();
        let requests = std::mem::take(&mut self.queue).len();
        self.bytes = 0;
        self.session += 1;
        (requests, messages)
    }

    /// Whether a worker has to be started. If the result is true, a worker counts as running from now on.
    pub fn begin(&mut self) -> bool {
        let begins = !self.is_running && !self.queue.is_empty();
        self.is_running |= begins;
        begins
    }

    pub fn end(&mut self) {
        self.is_running = false;
    }

    pub fn session(&self) -> u64 {
        self.session
    }
}

impl Work {
    /// Creates or destroys entities. This may block until other processes react.
    pub fn carry_out(self, context: &Arc<Context>, client: &Weak<ClientCell>, key: ClientKey) -> Done {
        match self {
            Self::Build { building, replaced, stream, request } => {
                drop(replaced);
                Done::Built { built: building.build(&Site { context, client, key }), stream, request }
            }
            Self::Destroy { objects, stream, request } => {
                drop(objects);
                Done::Destroyed { stream, request }
            }
        }
    }
}

/// Carries out the requests of a client, until no request waits.
pub fn run(this: &Weak<ClientCell>, context: &Arc<Context>) {
    loop {
        let Some(client) = this.upgrade() else { return };
        let next = lock(&client).next_work(context);
        let Some((work, session, key)) = next else { return };
        let done = work.carry_out(context, this, key);
        let left = lock(&client).finish(done, session, context);
        drop(left); // after the client's lock was released
    }
}

impl Client {
    /// Removes the waiting requests, counts their messages as refused, and logs this.
    pub fn forget_jobs(&mut self, context: &Context) {
        let (requests, messages) = self.jobs.clear();
        self.counts.refused += messages as u64;
        if requests > 0 {
            let (key, line) = (KeyText(self.peer().key), &self.line);
            let log = format_args!(
                "{key} at {line}: its session ended before the agent carried out {requests} requests; {messages} of \
                 these requests were messages"
            );
            self.limiter.log(&context.config.log, Level::Warning, log);
        }
    }

    /// Carries out waiting requests until one needs a worker. Returns the work of that request.
    fn next_work(&mut self, context: &Arc<Context>) -> Option<(Work, u64, ClientKey)> {
        let mut work = None;
        while let Some(job) = self.jobs.pop() {
            let mut requests = self.requests(context);
            job.read(&mut |event| work = requests.carry_out(event));
            if work.is_some() {
                break;
            }
        }
        let session = self.jobs.session();
        let key = self.peer().key;
        if work.is_none() {
            self.jobs.end();
            self.pump(context);
        }
        work.map(|work| (work, session, key))
    }

    /// Records the result of a work. Returns the entities that have to be destroyed.
    fn finish(&mut self, done: Done, session: u64, context: &Arc<Context>) -> Option<Box<Built>> {
        let is_current = self.jobs.session() == session;
        let is_over = self.is_over;
        let mut requests = self.requests(context);
        let mut left = None;
        match done {
            Done::Built { built: Ok(built), .. } if is_over => left = Some(built),
            Done::Built { built: Ok(built), stream, request } => {
                let sentence = requests.objects.insert(*built);
                if is_current {
                    requests.created(stream, request, StatusValue::OK, sentence);
                }
            }
            Done::Built { built: Err(refusal), stream, request } if is_current => {
                requests.refuse(stream, request, refusal);
            }
            Done::Destroyed { stream, request } if is_current => requests.answer(stream, request, StatusValue::OK),
            Done::Built { .. } | Done::Destroyed { .. } => {}
        }
        if !is_over {
            self.pump(context);
        }
        left
    }
}
