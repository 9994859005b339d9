//! Plans: what a CREATE asks for, in Gantry's words, with everything that it refers to found.

use super::objects::{Entity, Objects};
use crate::{
    config::Config,
    listener::Listener,
    names::{TopicName, node_name, service_name, type_name},
    qos,
};
use gantry::{Node, Qos, ServiceTypeDescription, TypeDescription};
use gantry_xrce::wire::{
    self, ClientKey, Create, Entity as Described, ObjectId, ObjectKind, Owner, Representation, Service, StatusValue,
};

/// The description of an object. Two objects with equal ones can stand for each other.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Plan {
    Participant { domain_id: u32, namespace: String, name: String },
    Topic { topic: TopicName, type_name: String },
    Group,
    Writer(Endpoint),
    Reader(Endpoint),
    Requester(ServiceEndpoint),
    Replier(ServiceEndpoint),
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Endpoint {
    pub topic: TopicName,
    pub message_type: TypeDescription,
    pub qos: Qos,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ServiceEndpoint {
    pub name: String,
    pub service_type: ServiceTypeDescription,
}

/// The reason for which a request is refused: the status, and the sentence for the log.
#[derive(Debug)]
pub struct Refusal {
    pub status: StatusValue,
    pub why: String,
}

impl Refusal {
    pub fn new(status: StatusValue, why: impl Into<String>) -> Self {
        Self { status, why: why.into() }
    }

    pub fn unknown(what: &str, id: ObjectId) -> Self {
        Self::new(StatusValue::UNKNOWN_REFERENCE, format!("{what} {:#06x} does not exist; create it first", id.0))
    }
}

impl From<gantry::Error> for Refusal {
    fn from(error: gantry::Error) -> Self {
        let is_full = matches!(error, gantry::Error::Engine(gantry::EngineError::PublishTimeout { .. }));
        Self::new(if is_full { StatusValue::RESOURCES } else { StatusValue::DDS_ERROR }, error.to_string())
    }
}

impl Plan {
    /// The plan of a CREATE, and the object that it belongs to.
    pub fn new(
        create: &Create<'_>,
        objects: &Objects,
        config: &Config,
        key: ClientKey,
    ) -> Result<(Plan, ObjectId), Refusal> {
        let described = match create.object.representation {
            Representation::Binary(described) => described,
            Representation::Reference(name) => {
                let why = format!("there are no profiles, so none is called '{name}'; use the binary representation");
                return Err(Refusal::new(StatusValue::UNKNOWN_REFERENCE, why));
            }
            Representation::Xml(_) => {
                let why = "XML is not read; use the binary representation";
                return Err(Refusal::new(StatusValue::INCOMPATIBLE, why));
            }
        };
        if let Described::Participant(participant) = described {
            let plan = Self::participant(&participant, create.object.owner, config, key)?;
            return Ok((plan, ObjectId::INVALID));
        }
        let Owner::Object(owner) = create.object.owner else {
            return Err(Refusal::new(StatusValue::INVALID_DATA, "the object has no owner"));
        };
        let (kind, what) = match described {
            Described::DataWriter(_) => (ObjectKind::PUBLISHER, "its publisher"),
            Described::DataReader(_) => (ObjectKind::SUBSCRIBER, "its subscriber"),
            _ => (ObjectKind::PARTICIPANT, "its participant"),
        };
        let owner = ObjectId::new(owner.number(), kind);
        if objects.get(owner).is_none() {
            return Err(Refusal::unknown(what, owner));
        }
        let plan = match described {
            Described::Participant(_) | Described::Publisher(_) | Described::Subscriber(_) => Self::Group,
            Described::Topic(topic) => {
                let Some(type_name_of_dds) = topic.type_name.or(topic.type_reference) else {
                    return Err(Refusal::new(StatusValue::INVALID_DATA, format!("topic {} has no type", topic.name)));
                };
                Self::Topic { topic: TopicName::of_dds(topic.name), type_name: type_name(type_name_of_dds) }
            }
            Described::DataWriter(writer) => {
                Self::Writer(endpoint(objects, config, writer.topic, writer.qos.as_ref().map(|qos| &qos.common))?)
            }
            Described::DataReader(reader) => {
                Self::Reader(endpoint(objects, config, reader.topic, reader.qos.as_ref().map(|qos| &qos.common))?)
            }
            Described::Requester(service) => Self::Requester(service_endpoint(&service, config)?),
            Described::Replier(service) => Self::Replier(service_endpoint(&service, config)?),
        };
        Ok((plan, owner))
    }

    fn participant(
        participant: &wire::Participant<'_>,
        owner: Owner,
        config: &Config,
        key: ClientKey,
    ) -> Result<Plan, Refusal> {
        let asked = if let Owner::Domain(domain) = owner { domain } else { 0 };
        let domain_id = match (config.domain_id, u32::try_from(asked)) {
            (Some(domain_id), _) | (None, Ok(domain_id)) => domain_id,
            (None, Err(_)) => {
                return Err(Refusal::new(StatusValue::INVALID_DATA, format!("there is no domain {asked}")));
            }
        };
        let (namespace, name) = match participant.name.filter(|name| !name.is_empty()) {
            Some(name) => node_name(name),
            None => node_name(&format!("xrce_client_{:08x}", u32::from_be_bytes(key.0))),
        };
        Ok(Plan::Participant { domain_id, namespace, name })
    }

    /// The type of the data that the client writes to the object.
    pub fn written_type(&self) -> Option<&TypeDescription> {
        match self {
            Self::Writer(endpoint) => Some(&endpoint.message_type),
            Self::Requester(service) => Some(&service.service_type.request),
            Self::Replier(service) => Some(&service.service_type.response),
            Self::Participant { .. } | Self::Topic { .. } | Self::Group | Self::Reader(_) => None,
        }
    }

    /// The kind of the object's identifier.
    pub fn kind(&self, asked: ObjectKind) -> ObjectKind {
        match self {
            Self::Participant { .. } => ObjectKind::PARTICIPANT,
            Self::Topic { .. } => ObjectKind::TOPIC,
            Self::Group => asked,
            Self::Writer(_) => ObjectKind::DATA_WRITER,
            Self::Reader(_) => ObjectKind::DATA_READER,
            Self::Requester(_) => ObjectKind::REQUESTER,
            Self::Replier(_) => ObjectKind::REPLIER,
        }
    }
}

fn endpoint(
    objects: &Objects,
    config: &Config,
    topic: ObjectId,
    qos: Option<&wire::Qos<'_>>,
) -> Result<Endpoint, Refusal> {
    let id = ObjectId::new(topic.number(), ObjectKind::TOPIC);
    let Some(Plan::Topic { topic, type_name }) = objects.get(id).map(|object| &object.plan) else {
        return Err(Refusal::unknown("its topic", id));
    };
    let Some(message_type) = config.types.get(type_name) else {
        return Err(unknown_type(&format!("topic {}", topic.name), type_name));
    };
    let qos = Qos { avoid_ros_namespace_conventions: topic.is_native, ..qos::granted(qos) };
    Ok(Endpoint { topic: topic.clone(), message_type: message_type.clone(), qos })
}

fn service_endpoint(service: &Service<'_>, config: &Config) -> Result<ServiceEndpoint, Refusal> {
    let name = service_name(service);
    let (request, reply) = (type_name(service.request_type), type_name(service.reply_type));
    match config.types.service(&request, &reply) {
        Some(service_type) => Ok(ServiceEndpoint { name, service_type }),
        None => Err(unknown_type(&format!("service {name}"), &format!("{request} and {reply}"))),
    }
}

fn unknown_type(what: &str, name: &str) -> Refusal {
    let why = format!("the agent has no definition of {name}, the type of {what}; give its folder with --definitions");
    Refusal::new(StatusValue::UNKNOWN_REFERENCE, why)
}

/// The node of a participant, or of the participant that a publisher or subscriber belongs to, and the listener of its domain.
pub fn node_of(objects: &Objects, owner: ObjectId) -> Option<(&Node, &Listener)> {
    let object = objects.get(owner)?;
    match &object.entity {
        Entity::Node(node, listener) => Some((node, listener)),
        _ => match &objects.get(object.owner)?.entity {
            Entity::Node(node, listener) => Some((node, listener)),
            _ => None,
        },
    }
}
