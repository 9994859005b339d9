//! Representations of clients, agents and objects.

use super::{ClientKey, Code, Entity, List, ObjectId, ObjectKind, Problem, Property, Reader, SessionId, Writer};

/// The bytes at the beginning of every representation of a client or an agent.
const COOKIE: &[u8; 4] = b"XRCE";

/// A client.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ClientRepresentation<'a> {
    /// The version of the protocol: its major and minor number.
    pub version: [u8; 2],
    /// The vendor of the client.
    pub vendor: [u8; 2],
    /// The key that the client chose for itself.
    pub key: ClientKey,
    /// The session that the client asks for.
    pub session: SessionId,
    /// Properties.
    pub properties: Option<List<'a, Property<'a>>>,
    /// The largest length of a message that the client accepts, in bytes: the limit of its transport, less 4.
    pub mtu_bytes: u16,
}

/// An agent.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct AgentRepresentation<'a> {
    /// The version of the protocol: its major and minor number.
    pub version: [u8; 2],
    /// The vendor of the agent.
    pub vendor: [u8; 2],
    /// Properties.
    pub properties: Option<List<'a, Property<'a>>>,
}

/// The version of the protocol that eProsima's client and agent speak.
pub const VERSION: [u8; 2] = [1, 0];

/// eProsima's identifier of a vendor.
pub const VENDOR_EPROSIMA: [u8; 2] = [0x01, 0x0f];

/// Reads cookie, version and vendor.
fn read_start(reader: &mut Reader<'_>) -> ([u8; 2], [u8; 2]) {
    let start = reader.position();
    if &reader.array() != COOKIE {
        reader.fail(start, Problem::Cookie);
    }
    (reader.array(), reader.array())
}

fn write_start(writer: &mut Writer<'_>, version: [u8; 2], vendor: [u8; 2]) {
    writer.put(COOKIE);
    writer.put(&version);
    writer.put(&vendor)
}

impl<'a> ClientRepresentation<'a> {
    pub(super) fn read(reader: &mut Reader<'a>) -> Self {
        let (version, vendor) = read_start(reader);
        Self {
            version,
            vendor,
            key: ClientKey(reader.array()),
            session: SessionId(reader.u8()),
            properties: reader.optional(List::read),
            mtu_bytes: reader.u16(),
        }
    }

    pub(super) fn write(&self, writer: &mut Writer<'_>) {
        write_start(writer, self.version, self.vendor);
        writer.put(&self.key.0);
        writer.u8(self.session.0);
        writer.optional(self.properties, |writer, properties| properties.write(writer));
        writer.u16(self.mtu_bytes);
    }
}

impl<'a> AgentRepresentation<'a> {
    pub(super) fn read(reader: &mut Reader<'a>) -> Self {
        let (version, vendor) = read_start(reader);
        Self { version, vendor, properties: reader.optional(List::read) }
    }

    pub(super) fn write(&self, writer: &mut Writer<'_>) {
        write_start(writer, self.version, self.vendor);
        writer.optional(self.properties, |writer, properties| properties.write(writer));
    }
}

/// An object that CREATE asks for, or that INFO describes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Object<'a> {
    /// The kind of the object.
    pub kind: ObjectKind,
    /// The description of the object.
    pub representation: Representation<'a>,
    /// The object to which this object belongs.
    pub owner: Owner,
}

/// The description of an object.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Representation<'a> {
    /// The object is described by the name of a profile in the agent's configuration.
    Reference(&'a str),
    /// XML, as in Fast DDS's configuration.
    Xml(&'a str),
    /// The binary representation.
    Binary(Entity<'a>),
}

/// The owner of an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Owner {
    /// The domain of a participant.
    Domain(i16),
    /// The participant, publisher or subscriber.
    Object(ObjectId),
    /// No owner. Types, profiles and applications have none.
    None,
}

impl<'a> Object<'a> {
    /// An object in its binary representation.
    pub fn binary(entity: Entity<'a>, owner: Owner) -> Self {
        Self { kind: entity.kind(), representation: Representation::Binary(entity), owner }
    }

    /// Reads the fields after the kind.
    pub(super) fn read(reader: &mut Reader<'a>, kind: ObjectKind) -> Self {
        let representation = Representation::read(reader, kind);
        let owner = match kind.0 {
            1 => Owner::Domain(reader.i16()),
            2..=8 => Owner::Object(ObjectId::read(reader)),
            0x0a..=0x0c => Owner::None,
            value => {
                reader.fail(reader.position(), Problem::Unknown { code: Code::ObjectKind, value });
                Owner::None
            }
        };
        Self { kind, representation, owner }
    }

    pub(super) fn write(&self, writer: &mut Writer<'_>) {
        writer.u8(self.kind.0);
        self.representation.write(writer);
        match self.owner {
            Owner::Domain(domain) => writer.u16(domain as u16),
            Owner::Object(object) => object.write(writer),
            Owner::None => {}
        }
    }
}

impl<'a> Representation<'a> {
    fn read(reader: &mut Reader<'a>, kind: ObjectKind) -> Self {
        let start = reader.position();
        match reader.u8() {
            1 => Self::Reference(reader.text()),
            2 => Self::Xml(reader.text()),
            3 => Self::Binary(reader.nested(|reader| Entity::read(reader, kind))),
            value => {
                reader.fail(start, Problem::Unknown { code: Code::RepresentationFormat, value });
                Self::Reference("")
            }
        }
    }

    fn write(&self, writer: &mut Writer<'_>) {
        match self {
            Self::Reference(name) => {
                writer.u8(1);
                writer.text(name);
            }
            Self::Xml(xml) => {
                writer.u8(2);
                writer.text(xml);
            }
            Self::Binary(entity) => {
                writer.u8(3);
                let nested = writer.begin_nested();
                entity.write(writer);
                writer.end_nested(nested);
            }
        }
    }
}
