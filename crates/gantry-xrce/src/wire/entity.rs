//! The binary representations of objects, in CREATE.

use super::{Code, List, ObjectId, ObjectKind, Problem, Reader, ReaderQos, Writer, WriterQos};

/// The binary representation of an object.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Entity<'a> {
    /// A participant: a ROS 2 node.
    Participant(Participant<'a>),
    /// A topic.
    Topic(Topic<'a>),
    /// A publisher.
    Publisher(Group<'a>),
    /// A subscriber.
    Subscriber(Group<'a>),
    /// A data writer.
    DataWriter(DataWriter<'a>),
    /// A data reader.
    DataReader(DataReader<'a>),
    /// A requester.
    Requester(Service<'a>),
    /// A replier.
    Replier(Service<'a>),
}

/// A participant.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Participant<'a> {
    /// The name of a domain in the agent's configuration.
    pub domain_reference: Option<&'a str>,
    /// The name of a QoS profile. eProsima's client and agent use it as the participant's name.
    pub name: Option<&'a str>,
}

/// A topic.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Topic<'a> {
    /// The name of the topic; in ROS 2, `rt/` and the name of ROS 2's topic.
    pub name: &'a str,
    /// The name of a type in the agent's configuration.
    pub type_reference: Option<&'a str>,
    /// The DDS name of the type, such as `std_msgs::msg::dds_::String_`.
    pub type_name: Option<&'a str>,
}

/// A publisher or a subscriber.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Group<'a> {
    /// The name.
    pub name: Option<&'a str>,
    /// The QoS.
    pub qos: Option<GroupQos<'a>>,
}

/// The QoS of a publisher or a subscriber.
///
/// The format is the one of the DDS-XRCE standard. eProsima's client never sends this QoS, and eProsima's agent expects
/// it without the two flags that say whether a field is present.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct GroupQos<'a> {
    /// The names of the partitions. A name is the bytes of a string, not checked for UTF-8, as in a
    /// [`Property`](super::Property).
    pub partitions: Option<List<'a, &'a [u8]>>,
    /// Bytes of the user.
    pub group_data: Option<&'a [u8]>,
}

/// A data writer. Its publisher is [`Object::owner`](super::Object::owner).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DataWriter<'a> {
    /// The topic.
    pub topic: ObjectId,
    /// The QoS.
    pub qos: Option<WriterQos<'a>>,
}

/// A data reader. Its subscriber is [`Object::owner`](super::Object::owner).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DataReader<'a> {
    /// The topic.
    pub topic: ObjectId,
    /// The QoS.
    pub qos: Option<ReaderQos<'a>>,
}

/// A requester or a replier.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Service<'a> {
    /// The name of the service.
    pub name: &'a str,
    /// The name of the request's type.
    pub request_type: &'a str,
    /// The name of the reply's type.
    pub reply_type: &'a str,
    /// The topic of requests; in ROS 2, `rq/`, the service's name and `Request`.
    pub request_topic: Option<&'a str>,
    /// The topic of replies; in ROS 2, `rr/`, the service's name and `Reply`.
    pub reply_topic: Option<&'a str>,
}

impl<'a> Entity<'a> {
    /// The kind of the object.
    pub fn kind(&self) -> ObjectKind {
        match self {
            Self::Participant(_) => ObjectKind::PARTICIPANT,
            Self::Topic(_) => ObjectKind::TOPIC,
            Self::Publisher(_) => ObjectKind::PUBLISHER,
            Self::Subscriber(_) => ObjectKind::SUBSCRIBER,
            Self::DataWriter(_) => ObjectKind::DATA_WRITER,
            Self::DataReader(_) => ObjectKind::DATA_READER,
            Self::Requester(_) => ObjectKind::REQUESTER,
            Self::Replier(_) => ObjectKind::REPLIER,
        }
    }

    pub(super) fn read(reader: &mut Reader<'a>, kind: ObjectKind) -> Self {
        match kind {
            ObjectKind::PARTICIPANT => Self::Participant(Participant {
                domain_reference: reader.optional(Reader::text),
                name: reader.optional(Reader::text),
            }),
            ObjectKind::TOPIC => Self::Topic(Topic {
                name: reader.text(),
                type_reference: reader.optional(Reader::text),
                type_name: reader.optional(Reader::text),
            }),
            ObjectKind::PUBLISHER => Self::Publisher(Group::read(reader)),
            ObjectKind::SUBSCRIBER => Self::Subscriber(Group::read(reader)),
            ObjectKind::DATA_WRITER => {
                Self::DataWriter(DataWriter { topic: ObjectId::read(reader), qos: reader.optional(WriterQos::read) })
            }
            ObjectKind::DATA_READER => {
                Self::DataReader(DataReader { topic: ObjectId::read(reader), qos: reader.optional(ReaderQos::read) })
            }
            ObjectKind::REQUESTER => Self::Requester(Service::read(reader)),
            ObjectKind::REPLIER => Self::Replier(Service::read(reader)),
            ObjectKind(value) => {
                reader.fail(reader.position(), Problem::Unknown { code: Code::ObjectKind, value });
                Self::Topic(Topic::default())
            }
        }
    }

    pub(super) fn write(&self, writer: &mut Writer<'_>) {
        match self {
            Self::Participant(participant) => {
                writer.optional(participant.domain_reference, Writer::text);
                writer.optional(participant.name, Writer::text);
            }
            Self::Topic(topic) => {
                writer.text(topic.name);
                writer.optional(topic.type_reference, Writer::text);
                writer.optional(topic.type_name, Writer::text);
            }
            Self::Publisher(group) | Self::Subscriber(group) => group.write(writer),
            Self::DataWriter(endpoint) => {
                endpoint.topic.write(writer);
                writer.optional(endpoint.qos, |writer, qos| qos.write(writer));
            }
            Self::DataReader(endpoint) => {
                endpoint.topic.write(writer);
                writer.optional(endpoint.qos, |writer, qos| qos.write(writer));
            }
            Self::Requester(service) | Self::Replier(service) => service.write(writer),
        }
    }
}

impl<'a> Group<'a> {
    fn read(reader: &mut Reader<'a>) -> Self {
        Self { name: reader.optional(Reader::text), qos: reader.optional(GroupQos::read) }
    }

    fn write(&self, writer: &mut Writer<'_>) {
        writer.optional(self.name, Writer::text);
        writer.optional(self.qos, |writer, qos| qos.write(writer));
    }
}

impl<'a> GroupQos<'a> {
    fn read(reader: &mut Reader<'a>) -> Self {
        Self { partitions: reader.optional(List::read), group_data: reader.optional(Reader::octets) }
    }

    fn write(&self, writer: &mut Writer<'_>) {
        writer.optional(self.partitions, |writer, partitions| partitions.write(writer));
        writer.optional(self.group_data, Writer::octets);
    }
}

impl<'a> Service<'a> {
    fn read(reader: &mut Reader<'a>) -> Self {
        Self {
            name: reader.text(),
            request_type: reader.text(),
            reply_type: reader.text(),
            request_topic: reader.optional(Reader::text),
            reply_topic: reader.optional(Reader::text),
        }
    }

    fn write(&self, writer: &mut Writer<'_>) {
        writer.text(self.name);
        writer.text(self.request_type);
        writer.text(self.reply_type);
        writer.optional(self.request_topic, Writer::text);
        writer.optional(self.reply_topic, Writer::text);
    }
}
