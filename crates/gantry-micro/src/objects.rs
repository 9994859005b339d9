//! The objects of a node and of its entities in the agent, and the requests for them.

use crate::{
    client::Node,
    entity::Endpoint,
    memory::Session,
    names::{Name, Names},
};
use gantry_xrce::{
    session::WriteError,
    wire::{
        Create, DataFormat, DataReader, DataWriter, DeliveryControl, Entity, Flags, Group, Object, ObjectId,
        ObjectKind, ObjectRequest, Owner, Participant, ReadData, ReaderQos, Service, StreamId, Topic, WriterQos,
    },
};

/// The bytes of the longest request: names, and what is around them.
const MAX_REQUEST_BYTES: usize = 400;
/// The bytes of READ_DATA.
const READ_BYTES: usize = 24;
/// The node's own objects.
const PARTICIPANT: ObjectId = ObjectId::new(1, ObjectKind::PARTICIPANT);
const PUBLISHER: ObjectId = ObjectId::new(1, ObjectKind::PUBLISHER);
const SUBSCRIBER: ObjectId = ObjectId::new(1, ObjectKind::SUBSCRIBER);

/// Writes the request for the node's object number `step`: participant, publisher, subscriber. Whether there is such an object.
pub(crate) fn create_of_node(node: &Node<'_>, step: u8, session: &mut Session<'_>) -> Result<bool, WriteError> {
    let participant = Participant { domain_reference: None, name: Some(node.name) };
    match step {
        0 => {
            let domain = Owner::Domain(node.domain_id as i16);
            request(session, PARTICIPANT, Entity::Participant(participant), domain)?;
        }
        1 => request(session, PUBLISHER, Entity::Publisher(Group::default()), Owner::Object(PARTICIPANT))?,
        2 => request(session, SUBSCRIBER, Entity::Subscriber(Group::default()), Owner::Object(PARTICIPANT))?,
        _ => return Ok(false),
    }
    Ok(true)
}

/// Writes the next request for an entity: its topic, the object that sends or receives, or READ_DATA. Whether there was one to write.
pub(crate) fn create(endpoint: &dyn Endpoint<'_>, session: &mut Session<'_>) -> Result<bool, WriteError> {
    let (entity, kind) = (endpoint.entity(), endpoint.kind());
    let (object, topic) = (entity.object(kind), entity.object(ObjectKind::TOPIC));
    let common = entity.qos().on_the_wire();
    match (entity.step(), kind) {
        (0, ObjectKind::REQUESTER | ObjectKind::REPLIER) => {
            let names = ServiceNames::new(endpoint.type_name(), entity.name());
            let service = names.service();
            let description =
                if kind == ObjectKind::REQUESTER { Entity::Requester(service) } else { Entity::Replier(service) };
            request(session, object, description, Owner::Object(PARTICIPANT))?;
        }
        (0, _) => {
            let names = TopicNames::new(endpoint.type_name(), entity.name());
            request(session, topic, Entity::Topic(names.topic()), Owner::Object(PARTICIPANT))?;
        }
        (1, ObjectKind::DATA_WRITER) => {
            let writer = DataWriter { topic, qos: Some(WriterQos { common, ownership_strength: None }) };
            request(session, object, Entity::DataWriter(writer), Owner::Object(PUBLISHER))?;
        }
        (1, ObjectKind::DATA_READER) => {
            let reader = DataReader { topic, qos: Some(ReaderQos { common, ..ReaderQos::default() }) };
            request(session, object, Entity::DataReader(reader), Owner::Object(SUBSCRIBER))?;
        }
        (1, _) | (2, ObjectKind::DATA_READER) => read(session, object, entity.qos().stream())?,
        _ => return Ok(false),
    }
    Ok(true)
}

/// Whether the names of an entity called `name` fit in a request.
pub(crate) fn has_room(endpoint: &dyn Endpoint<'_>, name: &str) -> bool {
    match endpoint.kind() {
        ObjectKind::REQUESTER | ObjectKind::REPLIER => ServiceNames::new(endpoint.type_name(), name).all.fit(),
        _ => TopicNames::new(endpoint.type_name(), name).all.fit(),
    }
}

struct TopicNames {
    all: Names,
    name: Name,
    data_type: Name,
}

impl TopicNames {
    fn new(type_name: &str, name: &str) -> Self {
        let mut all = Names::new();
        let name = all.topic("rt/", name, "");
        let data_type = all.data_type(type_name, "_");
        Self { all, name, data_type }
    }

    fn topic(&self) -> Topic<'_> {
        let type_name = Some(self.all.get(self.data_type));
        Topic { name: self.all.get(self.name), type_reference: None, type_name }
    }
}

struct ServiceNames {
    all: Names,
    name: Name,
    request_type: Name,
    reply_type: Name,
    request_topic: Name,
    reply_topic: Name,
}

impl ServiceNames {
    fn new(type_name: &str, name: &str) -> Self {
        let mut all = Names::new();
        let request_type = all.data_type(type_name, "_Request_");
        let reply_type = all.data_type(type_name, "_Response_");
        let request_topic = all.topic("rq/", name, "Request");
        let reply_topic = all.topic("rr/", name, "Reply");
        let name = all.topic("", name, "");
        Self { all, name, request_type, reply_type, request_topic, reply_topic }
    }

    fn service(&self) -> Service<'_> {
        Service {
            name: self.all.get(self.name),
            request_type: self.all.get(self.request_type),
            reply_type: self.all.get(self.reply_type),
            request_topic: Some(self.all.get(self.request_topic)),
            reply_topic: Some(self.all.get(self.reply_topic)),
        }
    }
}

fn request(
    session: &mut Session<'_>,
    object: ObjectId,
    description: Entity<'_>,
    owner: Owner,
) -> Result<(), WriteError> {
    let mut scratch = [0; MAX_REQUEST_BYTES];
    let payload =
        |request| Create { request: ObjectRequest { request, object }, object: Object::binary(description, owner) };
    // An object that an earlier session left is not this one.
    session.request_in_fragments(Flags::REPLACE, &mut scratch, payload).map(drop)
}

/// Asks for all data of an object.
fn read(session: &mut Session<'_>, object: ObjectId, stream: StreamId) -> Result<(), WriteError> {
    let delivery = DeliveryControl {
        max_samples: DeliveryControl::UNLIMITED,
        max_elapsed_s: 0,
        max_bytes_per_s: 0,
        min_pace_ms: 0,
    };
    let payload = |request| ReadData {
        request: ObjectRequest { request, object },
        stream,
        format: DataFormat::DATA,
        content_filter: None,
        delivery: Some(delivery),
    };
    session.request(StreamId::RELIABLE, Flags::NONE, READ_BYTES, payload).map(drop)
}
