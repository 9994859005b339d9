//! The XRCE objects of a node and of its entities, and the requests to create them.

use super::{
    entity::Entity,
    memory::Session,
    names::{MAX_NAMES_BYTES, Names, TypeName, relative},
    node::Node,
};
use gantry_xrce::{
    session::WriteError,
    wire::{
        Create, DataFormat, DataReader, DataWriter, DeliveryControl, Entity as Description, Flags, Group, Object,
        ObjectId, ObjectKind, ObjectRequest, Owner, Participant, ReadData, ReaderQos, Service, StreamId, Topic,
        WriterQos,
    },
};

/// The largest length of a request: names of at most [`MAX_NAMES_BYTES`] bytes, one more name, and about 60 other
/// bytes.
const MAX_REQUEST_BYTES: usize = 320;
/// The length of a READ_DATA request.
const READ_BYTES: usize = 24;
/// The node's own XRCE objects.
const PARTICIPANT: ObjectId = ObjectId::new(1, ObjectKind::PARTICIPANT);
const PUBLISHER: ObjectId = ObjectId::new(1, ObjectKind::PUBLISHER);
const SUBSCRIBER: ObjectId = ObjectId::new(1, ObjectKind::SUBSCRIBER);

/// Writes the CREATE request for the node's object with the number `step`: participant, publisher or subscriber.
/// Returns `false` if there is no such number.
pub(crate) fn create_of_node(node: &Node<'_>, step: u8, session: &mut Session<'_>) -> Result<bool, WriteError> {
    let (object, description, owner) = match step {
        0 => {
            let participant = Participant { domain_reference: None, name: Some(node.name) };
            (PARTICIPANT, Description::Participant(participant), Owner::Domain(node.domain_id as i16))
        }
        1 => (PUBLISHER, Description::Publisher(Group::default()), Owner::Object(PARTICIPANT)),
        2 => (SUBSCRIBER, Description::Subscriber(Group::default()), Owner::Object(PARTICIPANT)),
        _ => return Ok(false),
    };
    request(session, object, description, owner)?;
    Ok(true)
}

/// Writes the next CREATE request for a publisher: for its topic or for its data writer. Returns whether there was one
/// to write.
pub(crate) fn create_writer(
    entity: &Entity<'_>,
    type_name: &TypeName,
    session: &mut Session<'_>,
) -> Result<bool, WriteError> {
    match entity.step() {
        0 => create_topic(entity, type_name, session)?,
        1 => {
            let qos = WriterQos { common: entity.qos().on_the_wire(), ownership_strength: None };
            let writer = DataWriter { topic: entity.object(ObjectKind::TOPIC), qos: Some(qos) };
            let (object, owner) = (entity.object(ObjectKind::DATA_WRITER), Owner::Object(PUBLISHER));
            request(session, object, Description::DataWriter(writer), owner)?;
        }
        _ => return Ok(false),
    }
    Ok(true)
}

/// Writes the next request for a subscription: the CREATE of its topic, the CREATE of its data reader, or READ_DATA.
/// Returns whether there was one to write.
pub(crate) fn create_reader(
    entity: &Entity<'_>,
    type_name: &TypeName,
    session: &mut Session<'_>,
) -> Result<bool, WriteError> {
    let object = entity.object(ObjectKind::DATA_READER);
    match entity.step() {
        0 => create_topic(entity, type_name, session)?,
        1 => {
            let qos = ReaderQos { common: entity.qos().on_the_wire(), ..ReaderQos::default() };
            let reader = DataReader { topic: entity.object(ObjectKind::TOPIC), qos: Some(qos) };
            let owner = Owner::Object(SUBSCRIBER);
            request(session, object, Description::DataReader(reader), owner)?;
        }
        2 => read(session, object, entity.qos().stream())?,
        _ => return Ok(false),
    }
    Ok(true)
}

// This function and `request` are not inlined: otherwise, their names and scratch memory would occupy the stack in all
// callers.
#[inline(never)]
fn create_topic(entity: &Entity<'_>, type_name: &TypeName, session: &mut Session<'_>) -> Result<(), WriteError> {
    let mut names = Names::new();
    let name = names.topic("rt/", entity.name(), "");
    let data_type = names.data_type(type_name, "_");
    let topic =
        Topic { name: names.get(name).unwrap_or_default(), type_reference: None, type_name: names.get(data_type) };
    let object = entity.object(ObjectKind::TOPIC);
    request(session, object, Description::Topic(topic), Owner::Object(PARTICIPANT))
}

/// Writes the next request for a service or a service client: the CREATE of its replier or requester, or READ_DATA.
/// Returns whether there was one to write.
pub(crate) fn create_service(
    entity: &Entity<'_>,
    type_name: &TypeName,
    kind: ObjectKind,
    session: &mut Session<'_>,
) -> Result<bool, WriteError> {
    let object = entity.object(kind);
    match entity.step() {
        0 => {
            let mut names = Names::new();
            let request_type = names.data_type(type_name, "_Request_");
            let reply_type = names.data_type(type_name, "_Response_");
            let request_topic = names.topic("rq/", entity.name(), "Request");
            let reply_topic = names.topic("rr/", entity.name(), "Reply");
            let service = Service {
                name: relative(entity.name()),
                request_type: names.get(request_type).unwrap_or_default(),
                reply_type: names.get(reply_type).unwrap_or_default(),
                request_topic: names.get(request_topic),
                reply_topic: names.get(reply_topic),
            };
            let description = match kind {
                ObjectKind::REQUESTER => Description::Requester(service),
                _ => Description::Replier(service),
            };
            request(session, object, description, Owner::Object(PARTICIPANT))?;
        }
        1 => read(session, object, StreamId::RELIABLE)?,
        _ => return Ok(false),
    }
    Ok(true)
}

/// Whether `Names` has room for the DDS names of the topic `name`.
pub(crate) const fn has_room_for_topic(type_name: &TypeName, name: &str) -> bool {
    "rt/".len() + name.len() + type_name.dds_bytes() <= MAX_NAMES_BYTES
}

/// Whether `Names` has room for the DDS names of the service `name`.
pub(crate) const fn has_room_for_service(type_name: &TypeName, name: &str) -> bool {
    let topics = "rq/Request".len() + "rr/Reply".len() + 2 * name.len();
    topics + 2 * type_name.dds_bytes() + "Request_".len() + "Response_".len() <= MAX_NAMES_BYTES
}

#[inline(never)]
fn request(
    session: &mut Session<'_>,
    object: ObjectId,
    description: Description<'_>,
    owner: Owner,
) -> Result<(), WriteError> {
    let payload =
        |request| Create { request: ObjectRequest { request, object }, object: Object::binary(description, owner) };
    // The agent may still have an object of an earlier session, which may differ from the new one, so it is replaced.
    session.request_in_fragments(Flags::REPLACE, &mut [0; MAX_REQUEST_BYTES], payload).map(drop)
}

/// Asks the agent for all data of an object.
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
    session.request_in_fragments(Flags::NONE, &mut [0; READ_BYTES], payload).map(drop)
}
