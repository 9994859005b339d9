//! The state that a client keeps for each publisher, subscription, service and service client.

use super::{memory::Session, queue::Outcome};
use crate::qos::Qos;
use core::cell::Cell;
use gantry_xrce::{
    session::WriteError,
    stream::Refused,
    wire::{ObjectId, ObjectKind, StatusValue},
};

/// The common part of publishers, subscriptions, services and service clients, which is an element of the client's
/// linked list. Its initial bytes are all zero, so that a static entity is in `.bss`.
pub(crate) struct Entity<'a> {
    next: Cell<Option<&'a dyn Endpoint<'a>>>,
    name: Cell<Option<&'a str>>,
    qos: Cell<Qos>,
    /// The number in the identifiers of the entity's objects; 0 before the entity is created.
    number: Cell<u16>,
    /// The number of CREATE requests for the entity's objects that were written in this session.
    step: Cell<u8>,
    state: Cell<EntityState>,
    counts: Cell<EntityCounts>,
}

/// The state of a publisher, subscription, service or service client.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum EntityState {
    /// There is no session, or the agent has not answered yet.
    #[default]
    Waiting,
    /// The agent has created the entity's objects.
    Ready,
    /// The agent refuses the entity in this session. With the status RESOURCES, the session's memory may be too small
    /// for the description of the entity.
    Refused(StatusValue),
}

/// The counters of a publisher, subscription, service or service client since it was created. They wrap around at their
/// maximum.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct EntityCounts {
    /// The number of messages that were passed to the session to be sent.
    pub sent: u32,
    /// The number of messages for which the session had no room: [`PublishError::Full`](crate::PublishError::Full).
    pub full: u32,
    /// The number of messages that the agent refused, each with an [`Event::Refused`](crate::Event::Refused).
    pub refused: u32,
    /// The number of messages that came into the queue.
    pub received: u32,
    /// The number of messages that were lost because the queue was full (KEEP_LAST). The oldest message in the queue is
    /// lost. If a view still uses its slot, the new message is lost.
    pub overwritten: u32,
    /// The number of messages that were too long: received ones longer than the queue's `SIZE`, or outgoing ones longer
    /// than the session's memory.
    pub too_long: u32,
    /// The number of received messages that do not have the entity's type, or are big-endian.
    pub invalid: u32,
}

/// The methods that a client calls on the entities in its list.
pub(crate) trait Endpoint<'a> {
    fn entity(&self) -> &Entity<'a>;

    /// The kind of the XRCE object that sends or receives the entity's data.
    fn kind(&self) -> ObjectKind;

    /// Writes the next CREATE request for an object of the entity. Returns whether there was one to write. Each kind of
    /// entity has its own implementation, so that the code of unused kinds is not linked.
    fn create(&self, session: &mut Session<'_>) -> Result<bool, WriteError>;

    /// Puts received data into the queue.
    fn deliver(&self, data: &[u8]);
}

impl<'a> Entity<'a> {
    pub const fn new() -> Self {
        const NONE: EntityCounts =
            EntityCounts { sent: 0, full: 0, refused: 0, received: 0, overwritten: 0, too_long: 0, invalid: 0 };
        Self {
            next: Cell::new(None),
            name: Cell::new(None),
            qos: Cell::new(Qos::ZERO),
            number: Cell::new(0),
            step: Cell::new(0),
            state: Cell::new(EntityState::Waiting),
            counts: Cell::new(NONE),
        }
    }

    /// Makes the entity an element of the client's linked list.
    pub fn link(&self, next: Option<&'a dyn Endpoint<'a>>, number: u16, name: &'a str, qos: Qos) {
        self.next.set(next);
        self.number.set(number);
        self.name.set(Some(name));
        self.qos.set(qos);
    }

    pub fn next(&self) -> Option<&'a dyn Endpoint<'a>> {
        self.next.get()
    }

    pub fn name(&self) -> &'a str {
        self.name.get().unwrap_or_default()
    }

    pub fn qos(&self) -> Qos {
        self.qos.get()
    }

    pub fn number(&self) -> u16 {
        self.number.get()
    }

    pub fn object(&self, kind: ObjectKind) -> ObjectId {
        ObjectId::new(self.number.get(), kind)
    }

    pub fn step(&self) -> u8 {
        self.step.get()
    }

    pub fn advance(&self) {
        self.step.set(self.step.get() + 1);
    }

    /// Notes that the agent has no objects of this entity.
    pub fn reset(&self) {
        self.step.set(0);
        self.state.set(EntityState::Waiting);
    }

    pub fn state(&self) -> EntityState {
        self.state.get()
    }

    pub fn set_state(&self, state: EntityState) {
        self.state.set(state);
    }

    pub fn counts(&self) -> EntityCounts {
        self.counts.get()
    }

    pub fn count(&self, counter: impl FnOnce(&mut EntityCounts) -> &mut u32) {
        let mut counts = self.counts.get();
        let counter = counter(&mut counts);
        *counter = counter.wrapping_add(1);
        self.counts.set(counts);
    }

    pub fn count_received(&self, outcome: Outcome) {
        if matches!(outcome, Outcome::Queued | Outcome::Overwrote) {
            self.count(|counts| &mut counts.received);
        }
        match outcome {
            Outcome::Queued => {}
            Outcome::Overwrote | Outcome::InUse => self.count(|counts| &mut counts.overwritten),
            Outcome::TooLong => self.count(|counts| &mut counts.too_long),
        }
    }

    /// Returns `view` unchanged. If it is an error, counts an invalid message.
    pub fn checked<V>(&self, view: gantry_cdr::Result<V>) -> gantry_cdr::Result<V> {
        if view.is_err() {
            self.count(|counts| &mut counts.invalid);
        }
        view
    }

    pub fn count_refused(&self, refused: Refused) {
        self.count(|counts| match refused {
            Refused::TooLong { .. } => &mut counts.too_long,
            Refused::Full { .. } | Refused::Fragmenting => &mut counts.full,
        });
    }
}
