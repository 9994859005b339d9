//! Messages of DDS-XRCE, which are read in place and written into the caller's memory.
//!
//! A message is a [`Header`] and submessages. Each submessage is aligned to 4 bytes and has its own byte order.
//! [`parse`] splits a message, [`Submessage::read`] reads the payload of one of its submessages, and [`MessageBuilder`]
//! writes messages. Payloads are plain structs that borrow the bytes of the message.
//!
//! # Invariants
//! - Identifiers and other codes of the wire are newtypes, not enums, so that an unknown code can be stored and sent
//!   back. An unknown code is an error only if it determines how the bytes after it are read.
//! - A number is aligned to its size, counted from the start of the message, as in CDR. In the binary
//!   representation of an object, alignment is counted from the start of that representation.
//! - Bytes after the last known field of a payload are ignored. Padding is written as zeros.

mod builder;
mod byte_order;
mod entity;
mod error;
mod flags;
mod header;
mod info;
mod list;
mod object;
mod payload;
mod property;
mod qos;
mod reader;
mod representation;
mod service;
mod status;
mod submessage;
mod text;
mod time;
mod writer;

pub use builder::{MessageBuilder, Started};
pub use byte_order::ByteOrder;
pub use entity::{DataReader, DataWriter, Entity, Group, GroupQos, Participant, Service, Topic};
pub use error::{Code, Error, Problem, Result};
pub use flags::{DataFormat, Flags};
pub use header::{ClientKey, Header, SessionId, StreamId, parse};
pub use info::{Activity, Configuration, InfoMask, Locator, ObjectInfo};
pub use list::{Item, Items, List};
pub use object::{ObjectId, ObjectKind, ObjectReply, ObjectRequest, RequestId};
pub use payload::{
    AckNack, Create, CreateClient, Data, Delete, DeliveryControl, Fragment, GetInfo, Heartbeat, Info, Payload,
    ReadData, Reset, Status, StatusAgent, Timestamp, TimestampReply, WriteData,
};
pub use property::Property;
pub use qos::{Qos, QosFlags, ReaderQos, WriterQos};
pub use reader::Reader;
pub use representation::{
    AgentRepresentation, ClientRepresentation, Object, Owner, Representation, VENDOR_EPROSIMA, VERSION,
};
pub use service::{SampleIdentity, split_reply, split_request};
pub use status::{ResultStatus, StatusValue};
pub use submessage::{SUBMESSAGE_HEADER_BYTES, Submessage, SubmessageId, Submessages, submessage_header};
pub use time::Time;
pub use writer::Writer;
