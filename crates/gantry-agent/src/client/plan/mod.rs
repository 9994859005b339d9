//! Plans: the content of a CREATE in Gantry's terms (node, topic, QoS). A plan exists only if all objects to which the
//! CREATE refers exist.

mod names;
mod profile;
mod qos;
mod xml;

use super::refusal::Refusal;
use crate::config::{Config, DomainChoice};
use gantry::{Node, Qos, ServiceTypeDescription, TypeDescription};
use gantry_xrce::wire::{
    self, ClientKey, Create, Entity as Described, ObjectId, ObjectKind, ObjectRequest, Owner, Representation, Service,
    StatusValue,
};
use names::{TopicName, node_name, service_name, type_name};
use profile::Profile;
use std::borrow::Cow;

/// The description of an object. If two objects have equal descriptions, one can replace the other.
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

/// The objects of a client, to which a CREATE may refer.
pub trait KnownObjects {
    fn plan(&self, id: ObjectId) -> Option<&Plan>;
    /// The node of a participant. `owner` is the participant, or one of its publishers or subscribers.
    fn node(&self, owner: ObjectId) -> Option<&Node>;
}

impl Plan {
    /// Makes the plan of a CREATE. Returns it with the object to which the new object will belong.
    pub fn new(
        create: &Create<'_>,
        objects: &dyn KnownObjects,
        config: &Config,
        key: ClientKey,
    ) -> Result<(Plan, ObjectId), Refusal> {
        let Create { request: ObjectRequest { object: id, .. }, object } = create;
        if object.kind == ObjectKind::PARTICIPANT {
            let name = participant_name(&object.representation)?;
            return Ok((Self::participant(name.as_deref(), object.owner, config, key)?, ObjectId::INVALID));
        }
        let Owner::Object(owner) = object.owner else {
            return Err(Refusal::new(StatusValue::INVALID_DATA, "the object has no owner"));
        };
        let (kind, what) = match object.kind {
            ObjectKind::DATA_WRITER => (ObjectKind::PUBLISHER, "its publisher"),
            ObjectKind::DATA_READER => (ObjectKind::SUBSCRIBER, "its subscriber"),
            _ => (ObjectKind::PARTICIPANT, "its participant"),
        };
        let owner = ObjectId::new(owner.number(), kind);
        if objects.plan(owner).is_none() {
            return Err(Refusal::unknown(what, owner));
        }
        let site = Site { objects, config, owner };
        let plan = match object.representation {
            Representation::Binary(described) => site.described(&described)?,
            Representation::Xml(xml) => site.profiled(Profile::read(object.kind, xml).map_err(invalid)?)?,
            Representation::Reference(name) => {
                let why = format!(
                    "the agent has no profiles, so the profile '{name}' does not exist; describe object {:#06x} in the \
                     binary representation or by XML",
                    id.0
                );
                return Err(Refusal::new(StatusValue::UNKNOWN_REFERENCE, why));
            }
        };
        Ok((plan, owner))
    }

    fn participant(name: Option<&str>, owner: Owner, config: &Config, key: ClientKey) -> Result<Plan, Refusal> {
        let asked = if let Owner::Domain(domain) = owner { domain } else { 0 };
        let asked = u32::try_from(asked)
            .map_err(|_| Refusal::new(StatusValue::INVALID_DATA, format!("there is no domain {asked}")));
        let domain_id = match config.domain {
            DomainChoice::Always(domain_id) => domain_id,
            DomainChoice::AsAsked => asked?,
            DomainChoice::Only(only) => match asked? {
                asked if asked == only => only,
                asked => {
                    let advice = format!(
                        "the option --domain {only} puts all clients into domain {only}, --domain any lets the clients \
                         choose"
                    );
                    let why =
                        format!("clients may use domain {only} only, and the client requests domain {asked}; {advice}");
                    return Err(Refusal::new(StatusValue::DENIED, why));
                }
            },
        };
        let (namespace, name) = match name.filter(|name| !name.is_empty()) {
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

    /// The kind that the identifier of the object states. `asked` is the kind in the CREATE.
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

/// The name of a participant. If the client refers to a profile, the name of the profile is used, because the agent has
/// no profiles.
fn participant_name<'a>(representation: &Representation<'a>) -> Result<Option<Cow<'a, str>>, Refusal> {
    match *representation {
        Representation::Binary(Described::Participant(participant)) => Ok(participant.name.map(Cow::Borrowed)),
        Representation::Reference(name) => Ok(Some(Cow::Borrowed(name))),
        Representation::Xml(xml) => match Profile::read(ObjectKind::PARTICIPANT, xml).map_err(invalid)? {
            Profile::Participant { name } => Ok(name.map(Cow::Owned)),
            _ => Ok(None),
        },
        Representation::Binary(_) => Ok(None),
    }
}

fn invalid(why: String) -> Refusal {
    Refusal::new(StatusValue::INVALID_DATA, why)
}

/// The context of a new object: the client's other objects, and the object's owner.
struct Site<'a> {
    objects: &'a dyn KnownObjects,
    config: &'a Config,
    owner: ObjectId,
}

impl Site<'_> {
    /// Makes the plan of an object from its binary representation.
    fn described(&self, described: &Described<'_>) -> Result<Plan, Refusal> {
        Ok(match described {
            Described::Participant(_) | Described::Publisher(_) | Described::Subscriber(_) => Plan::Group,
            Described::Topic(topic) => {
                let Some(type_name_of_dds) = topic.type_name.or(topic.type_reference) else {
                    return Err(invalid(format!("topic {} has no type", topic.name)));
                };
                Plan::Topic { topic: TopicName::from_dds(topic.name), type_name: type_name(type_name_of_dds) }
            }
            Described::DataWriter(writer) => {
                Plan::Writer(self.endpoint_of(writer.topic, writer.qos.as_ref().map(|qos| &qos.common))?)
            }
            Described::DataReader(reader) => {
                Plan::Reader(self.endpoint_of(reader.topic, reader.qos.as_ref().map(|qos| &qos.common))?)
            }
            Described::Requester(service) => Plan::Requester(self.service(service, true)?),
            Described::Replier(service) => Plan::Replier(self.service(service, false)?),
        })
    }

    /// Makes the plan of an object from its XML. In XML, data writers and data readers contain their topics.
    fn profiled(&self, profile: Profile) -> Result<Plan, Refusal> {
        let endpoint = |endpoint: profile::Endpoint| {
            let (topic, type_name) = (TopicName::from_dds(&endpoint.topic), type_name(&endpoint.type_name));
            self.endpoint(&topic, &type_name, Some(&endpoint.qos))
        };
        let service = |service: &profile::Service, is_requester| {
            let profile::Service { name, request_type, reply_type, request_topic } = service;
            let request_topic = request_topic.as_deref();
            self.service(&Service { name, request_type, reply_type, request_topic, reply_topic: None }, is_requester)
        };
        Ok(match profile {
            Profile::Participant { .. } | Profile::Group => Plan::Group,
            Profile::Topic { name, type_name: of_dds } => {
                Plan::Topic { topic: TopicName::from_dds(&name), type_name: type_name(&of_dds) }
            }
            Profile::DataWriter(writer) => Plan::Writer(endpoint(writer)?),
            Profile::DataReader(reader) => Plan::Reader(endpoint(reader)?),
            Profile::Requester(requester) => Plan::Requester(service(&requester, true)?),
            Profile::Replier(replier) => Plan::Replier(service(&replier, false)?),
        })
    }

    /// Makes an endpoint from its topic, which is another object of the client.
    fn endpoint_of(&self, topic: ObjectId, qos: Option<&wire::Qos<'_>>) -> Result<Endpoint, Refusal> {
        let id = ObjectId::new(topic.number(), ObjectKind::TOPIC);
        let Some(Plan::Topic { topic, type_name }) = self.objects.plan(id) else {
            return Err(Refusal::unknown("its topic", id));
        };
        self.endpoint(topic, type_name, qos)
    }

    fn endpoint(&self, topic: &TopicName, type_name: &str, qos: Option<&wire::Qos<'_>>) -> Result<Endpoint, Refusal> {
        let known = self.config.types.get(type_name).cloned();
        let message_type = known.or_else(|| self.type_in_graph(topic, type_name));
        let Some(message_type) = message_type else {
            return Err(unknown_type(&format!("topic {}", topic.name), type_name));
        };
        let qos = Qos { avoid_ros_namespace_conventions: topic.is_native, ..qos::granted(qos) };
        Ok(Endpoint { topic: topic.clone(), message_type, qos })
    }

    /// The type of the other endpoints of a topic. The result is `None` if several types have this name, or the hash of
    /// the type is unknown.
    fn type_in_graph(&self, topic: &TopicName, type_name: &str) -> Option<TypeDescription> {
        let node = self.objects.node(self.owner).filter(|_| !topic.is_native)?;
        only(node.endpoint_types(&topic.name).ok()?, |found| found.name == type_name && found.rihs01().is_some())
    }

    fn service(&self, service: &Service<'_>, is_requester: bool) -> Result<ServiceEndpoint, Refusal> {
        let name = service_name(service);
        let (request, reply) = (type_name(service.request_type), type_name(service.reply_type));
        let known = self.config.types.service(&request, &reply);
        match known.or_else(|| if is_requester { self.service_in_graph(&name, &request, &reply) } else { None }) {
            Some(service_type) => Ok(ServiceEndpoint { name, service_type }),
            None => Err(unknown_type(&format!("service {name}"), &format!("{request} and {reply}"))),
        }
    }

    /// The type of the servers of a service. The result is `None` if several types have these names, or the hash of the
    /// type is unknown.
    fn service_in_graph(&self, name: &str, request: &str, reply: &str) -> Option<ServiceTypeDescription> {
        let node = self.objects.node(self.owner)?;
        only(node.service_types(name).ok()?, |found| {
            let are_known = found.request.rihs01().is_some() && found.response.rihs01().is_some();
            are_known && found.request.name == request && found.response.name == reply
        })
    }
}

/// The element for which `is_asked` returns true, if there is exactly one such element.
fn only<T>(all: Vec<T>, is_asked: impl Fn(&T) -> bool) -> Option<T> {
    let mut found = all.into_iter().filter(is_asked);
    found.next().filter(|_| found.next().is_none())
}

fn unknown_type(what: &str, name: &str) -> Refusal {
    let advice = match name.contains("/action/") {
        true => "the agent does not support actions, so use topics and services",
        false => {
            "give the folder of the definition with --definitions, or first start a program that uses the type on the \
             agent's machine"
        }
    };
    let why = format!("the agent has no definition of {name}, the type of {what}; {advice}");
    Refusal::new(StatusValue::UNKNOWN_REFERENCE, why)
}
