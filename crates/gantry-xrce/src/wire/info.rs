//! Information about objects, in INFO.

use super::{AgentRepresentation, ClientRepresentation, Code, Item, List, Object, ObjectKind, Problem, Reader, Writer};

/// The fields of an [`ObjectInfo`] that GET_INFO asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct InfoMask(pub u32);

impl InfoMask {
    /// The configuration.
    pub const CONFIGURATION: Self = Self(1);
    /// The flag for the activity. eProsima's client asks for the activity in a ping.
    pub const ACTIVITY: Self = Self(2);
}

/// Information about an object.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ObjectInfo<'a> {
    /// The configuration of the object.
    pub configuration: Option<Configuration<'a>>,
    /// The activity of the object.
    pub activity: Option<Activity<'a>>,
}

impl<'a> ObjectInfo<'a> {
    pub(super) fn read(reader: &mut Reader<'a>) -> Self {
        Self { configuration: reader.optional(Configuration::read), activity: reader.optional(Activity::read) }
    }

    pub(super) fn write(&self, writer: &mut Writer<'_>) {
        writer.optional(self.configuration, |writer, configuration| configuration.write(writer));
        writer.optional(self.activity, |writer, activity| activity.write(writer));
    }
}

/// The configuration of an object.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Configuration<'a> {
    /// The agent's.
    Agent(AgentRepresentation<'a>),
    /// A client's.
    Client(ClientRepresentation<'a>),
    /// The information about an object that a client created.
    Object(Object<'a>),
}

impl<'a> Configuration<'a> {
    fn read(reader: &mut Reader<'a>) -> Self {
        match ObjectKind(reader.u8()) {
            ObjectKind::AGENT => Self::Agent(AgentRepresentation::read(reader)),
            ObjectKind::CLIENT => Self::Client(ClientRepresentation::read(reader)),
            kind => Self::Object(Object::read(reader, kind)),
        }
    }

    fn write(&self, writer: &mut Writer<'_>) {
        match self {
            Self::Agent(agent) => {
                writer.u8(ObjectKind::AGENT.0);
                agent.write(writer)
            }
            Self::Client(client) => {
                writer.u8(ObjectKind::CLIENT.0);
                client.write(writer)
            }
            Self::Object(object) => object.write(writer),
        }
    }
}

/// The activity of an object.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Activity<'a> {
    /// An agent's.
    Agent {
        /// A number greater than 0 if the agent accepts clients.
        availability: i16,
        /// The addresses at which the agent can be reached.
        locators: List<'a, Locator<'a>>,
    },
    /// A data writer's.
    DataWriter {
        /// The last sequence number of the data writer's stream.
        stream_sequence: i16,
        /// The last sequence number of the data writer's samples.
        sample_sequence: u64,
    },
    /// A data reader's.
    DataReader {
        /// The last sequence number that the data reader acknowledged.
        highest_acknowledged: i16,
    },
}

impl<'a> Activity<'a> {
    fn read(reader: &mut Reader<'a>) -> Self {
        let start = reader.position();
        match ObjectKind(reader.u8()) {
            ObjectKind::AGENT => Self::Agent { availability: reader.i16(), locators: List::read(reader) },
            ObjectKind::DATA_WRITER => {
                Self::DataWriter { stream_sequence: reader.i16(), sample_sequence: reader.u64() }
            }
            ObjectKind::DATA_READER => Self::DataReader { highest_acknowledged: reader.i16() },
            ObjectKind(value) => {
                reader.fail(start, Problem::Unknown { code: Code::ObjectKind, value });
                Self::DataReader { highest_acknowledged: 0 }
            }
        }
    }

    fn write(&self, writer: &mut Writer<'_>) {
        match self {
            Self::Agent { availability, locators } => {
                writer.u8(ObjectKind::AGENT.0);
                writer.u16(*availability as u16);
                locators.write(writer)
            }
            Self::DataWriter { stream_sequence, sample_sequence } => {
                writer.u8(ObjectKind::DATA_WRITER.0);
                writer.u16(*stream_sequence as u16);
                writer.u64(*sample_sequence);
            }
            Self::DataReader { highest_acknowledged } => {
                writer.u8(ObjectKind::DATA_READER.0);
                writer.u16(*highest_acknowledged as u16);
            }
        }
    }
}

/// The address of an agent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Locator<'a> {
    /// An address of two bytes, and a port of one byte.
    Small {
        /// The address.
        address: [u8; 2],
        /// The port.
        port: u8,
    },
    /// An IPv4 address and a port.
    Medium {
        /// The address.
        address: [u8; 4],
        /// The port.
        port: u16,
    },
    /// An IPv6 address and a port.
    Large {
        /// The address.
        address: [u8; 16],
        /// The port.
        port: u32,
    },
    /// A text.
    Text(&'a str),
}

impl<'a> Item<'a> for Locator<'a> {
    fn read(reader: &mut Reader<'a>) -> Self {
        let start = reader.position();
        match reader.u8() {
            0 => Self::Small { address: reader.array(), port: reader.u8() },
            1 => Self::Medium { address: reader.array(), port: reader.u16() },
            2 => Self::Large { address: reader.array(), port: reader.u32() },
            3 => Self::Text(reader.text()),
            value => {
                reader.fail(start, Problem::Unknown { code: Code::LocatorFormat, value });
                Self::Text("")
            }
        }
    }

    fn write(&self, writer: &mut Writer<'_>) {
        match self {
            Self::Small { address, port } => {
                writer.u8(0);
                writer.put(address);
                writer.u8(*port);
            }
            Self::Medium { address, port } => {
                writer.u8(1);
                writer.put(address);
                writer.u16(*port);
            }
            Self::Large { address, port } => {
                writer.u8(2);
                writer.put(address);
                writer.u32(*port);
            }
            Self::Text(text) => {
                writer.u8(3);
                writer.text(text);
            }
        }
    }
}
