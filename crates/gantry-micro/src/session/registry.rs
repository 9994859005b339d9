//! The list of a client's entities, and the creation of their objects in the agent.

use super::{
    entity::{Endpoint, EntityState},
    memory::Session,
    node::Node,
    objects,
};
use crate::{error::CreateError, event::Event, qos::Qos};
use gantry_xrce::{
    session::{ClientEvent, WriteError},
    stream::Refused,
    wire::{ByteOrder, ObjectId, ObjectKind, ResultStatus, StatusValue},
};

/// The largest number of entities. It is limited because the identifier of an XRCE object has 12 bits for its number.
const MAX_ENTITIES: u16 = 0xfff;
/// The status of an entity if the session's memory is too small for its description.
const NO_ROOM: ResultStatus = ResultStatus { status: StatusValue::RESOURCES, implementation: 0 };

/// The entities of a client, newest first.
pub(crate) struct Registry<'a> {
    node: Node<'a>,
    /// The number of CREATE requests for the node's objects that were written in this session.
    step: u8,
    first: Option<&'a dyn Endpoint<'a>>,
}

impl<'a> Registry<'a> {
    pub fn new(node: Node<'a>) -> Self {
        Self { node, step: 0, first: None }
    }

    pub fn add(
        &mut self,
        endpoint: &'a dyn Endpoint<'a>,
        name: &'a str,
        qos: Qos,
        has_room: bool,
    ) -> Result<(), CreateError> {
        if !has_room {
            return Err(CreateError::NameTooLong { name_bytes: name.len() });
        }
        let entity = endpoint.entity();
        if entity.number() != 0 {
            return Err(CreateError::AlreadyCreated);
        }
        let number = self.first.map_or(0, |first| first.entity().number());
        if number == MAX_ENTITIES {
            return Err(CreateError::TooMany);
        }
        entity.link(self.first, number + 1, name, qos);
        self.first = Some(endpoint);
        Ok(())
    }

    fn endpoints(&self) -> impl Iterator<Item = &'a dyn Endpoint<'a>> {
        core::iter::successors(self.first, |endpoint| endpoint.entity().next())
    }

    fn find(&self, number: u16) -> Option<&'a dyn Endpoint<'a>> {
        self.endpoints().find(|endpoint| endpoint.entity().number() == number)
    }

    /// Writes CREATE requests for the objects that were not requested in this session yet, until the stream is full.
    #[inline(never)]
    pub fn create(&mut self, session: &mut Session<'_>, handle: &mut dyn FnMut(Event<'_>)) {
        if !session.is_connected() {
            return;
        }
        loop {
            match objects::create_of_node(&self.node, self.step, session) {
                Ok(true) => self.step += 1,
                Ok(false) => break,
                Err(WriteError::Refused(Refused::TooLong { .. })) => {
                    self.step += 1;
                    handle(Event::NodeRefused(NO_ROOM));
                }
                Err(_) => return,
            }
        }
        for endpoint in self.endpoints() {
            let entity = endpoint.entity();
            while entity.state() == EntityState::Waiting {
                match endpoint.create(session) {
                    Ok(true) => entity.advance(),
                    Ok(false) => break,
                    Err(WriteError::Refused(Refused::TooLong { .. })) => {
                        entity.set_state(EntityState::Refused(NO_ROOM.status));
                        handle(Event::Refused { name: entity.name(), status: NO_ROOM });
                    }
                    Err(_) => return,
                }
            }
        }
    }

    /// Notes that the agent has no objects of this client.
    fn reset(&mut self) {
        self.step = 0;
        self.endpoints().for_each(|endpoint| endpoint.entity().reset());
    }

    pub fn handle(&mut self, event: ClientEvent<'_>, handle: &mut dyn FnMut(Event<'_>)) {
        handle(match event {
            ClientEvent::Connected => {
                self.reset();
                Event::Connected
            }
            ClientEvent::Disconnected { reason, forgotten } => {
                self.reset();
                Event::Disconnected { reason, forgotten }
            }
            ClientEvent::Refused(status) => Event::SessionRefused(status),
            ClientEvent::Status { request, result } => return self.answered(request.object, result, handle),
            ClientEvent::Data { request, order, data } => {
                if let Some(endpoint) = self.find(request.object.number()) {
                    match order {
                        ByteOrder::Little => endpoint.deliver(data),
                        ByteOrder::Big => endpoint.entity().count(|counts| &mut counts.invalid),
                    }
                }
                return;
            }
            ClientEvent::Loss(loss) => Event::Loss(loss),
            ClientEvent::Malformed(error) => Event::Malformed(error),
            ClientEvent::Clock(clock) => Event::Clock(clock),
        });
    }

    fn answered(&self, object: ObjectId, status: ResultStatus, handle: &mut dyn FnMut(Event<'_>)) {
        let is_ok = status.status.is_ok();
        if matches!(object.kind(), ObjectKind::PARTICIPANT | ObjectKind::PUBLISHER | ObjectKind::SUBSCRIBER) {
            if !is_ok {
                handle(Event::NodeRefused(status));
            }
            return;
        }
        let Some(endpoint) = self.find(object.number()) else { return };
        let entity = endpoint.entity();
        if !is_ok {
            // An entity that exists in the agent stays Ready, because the agent has refused only one of its messages.
            if entity.state() == EntityState::Waiting {
                entity.set_state(EntityState::Refused(status.status));
            } else {
                entity.count(|counts| &mut counts.refused);
            }
            handle(Event::Refused { name: entity.name(), status });
        } else if object.kind() == endpoint.kind() && entity.state() == EntityState::Waiting {
            entity.set_state(EntityState::Ready);
            handle(Event::Created { name: entity.name() });
        }
    }
}
