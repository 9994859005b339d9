//! The steps of an input. One byte selects the kind of step and the address; the arguments of the step follow.
//!
//! Some steps send their arguments as a message. Others build messages with valid sequence numbers, logins and object
//! descriptions, which random bytes would hardly contain.

use super::{ADDRESSES, World, witness};
use gantry_agent::PeerAddress;
use gantry_xrce::wire::{
    AckNack, ByteOrder, ClientKey, ClientRepresentation, Create, CreateClient, DataFormat, DataReader, DataWriter,
    DeliveryControl, Entity, Flags, Group, Header, List, MessageBuilder, Object, ObjectId, ObjectKind, ObjectRequest,
    Owner, Participant, Payload, Property, ReadData, RequestId, Service, SessionId, StreamId, Topic, VENDOR_EPROSIMA,
    VERSION, WriteData,
};
use std::sync::atomic::Ordering::*;

/// The unread part of an input, and the sequence numbers of the clients at the addresses.
pub struct Steps<'a> {
    rest: &'a [u8],
    sequences: [[u16; 2]; ADDRESSES],
}

const KINDS: [ObjectKind; 8] = [
    ObjectKind::PARTICIPANT,
    ObjectKind::TOPIC,
    ObjectKind::PUBLISHER,
    ObjectKind::SUBSCRIBER,
    ObjectKind::DATA_WRITER,
    ObjectKind::DATA_READER,
    ObjectKind::REQUESTER,
    ObjectKind::REPLIER,
];

impl<'a> Steps<'a> {
    pub fn new(rest: &'a [u8]) -> Self {
        Self { rest, sequences: Default::default() }
    }

    fn byte(&mut self) -> u8 {
        let (&byte, rest) = self.rest.split_first().unwrap_or((&0, &[]));
        self.rest = rest;
        byte
    }

    /// Reads a length byte, and returns as many of the following bytes.
    fn bytes(&mut self) -> &'a [u8] {
        let length = usize::from(self.byte()).min(self.rest.len());
        let (bytes, rest) = self.rest.split_at(length);
        self.rest = rest;
        bytes
    }

    /// Does the next step of the input. Returns false if the input has ended.
    pub fn take(&mut self, world: &mut World) -> bool {
        if self.rest.is_empty() {
            return false;
        }
        let step = self.byte();
        let index = usize::from(step >> 4) % ADDRESSES;
        let peer = PeerAddress::Number(index as u32);
        let [reliable, best_effort] = [StreamId::RELIABLE, StreamId::BEST_EFFORT];
        match step % 16 {
            0 => {
                let message = self.bytes();
                // A message with the key of the witness is not sent: by the protocol, it could act as the witness.
                if !message.windows(4).any(|bytes| bytes == witness::KEY.0) {
                    world.port.receive(peer, message);
                }
            }
            1 => self.log_in(world, peer, index),
            2 => self.body(world, index, reliable),
            3 => self.body(world, index, best_effort),
            4 => self.body(world, index, StreamId::NONE),
            5 => self.create(world, index, reliable),
            6 => self.create(world, index, best_effort),
            7 => self.write(world, index, reliable),
            8 => self.write(world, index, best_effort),
            9 => self.read(world, index),
            10 => {
                let next = world.lines.of_addresses[index].next.load(Relaxed);
                let (first_unacknowledged, missing) = (next.wrapping_sub(u16::from(self.byte() % 17)), 0);
                self.send(world, index, StreamId::NONE, &AckNack { first_unacknowledged, missing, stream: reliable });
            }
            11 | 12 => {
                let is_full = step % 16 == 11;
                world.lines.of_addresses[index].is_full.store(is_full, Relaxed);
                if !is_full {
                    world.port.has_room(peer);
                }
            }
            13 => world.port.closed(peer),
            _ => {
                let ticks = self.byte();
                world.pass(ticks);
            }
        }
        true
    }

    fn log_in(&mut self, world: &mut World, peer: PeerAddress, index: usize) {
        let (key, properties) = (self.byte() % 8, self.byte());
        let named = [&b"gantry"[..], b"uxr_hl"].map(|name| Property { name, value: b"1" });
        let properties = named.get(usize::from(properties % 4)..).filter(|properties| !properties.is_empty());
        let client = ClientRepresentation {
            version: VERSION,
            vendor: VENDOR_EPROSIMA,
            key: ClientKey([0, 0, 0, key]),
            session: SessionId::CLIENT,
            properties: properties.map(List::from),
            mtu_bytes: u16::from(self.byte()) * 4,
        };
        let header = Header::streamless(SessionId::NONE);
        let mut memory = [0; 128];
        let mut builder = MessageBuilder::new(&mut memory, &header, ByteOrder::Little).unwrap();
        builder.add(Flags::NONE, &CreateClient { client }).unwrap();
        let length = builder.bytes();
        world.port.receive(peer, &memory[..length]);
        self.sequences[index] = [0; 2];
    }

    /// Makes the header of the next message in a stream.
    fn header(&mut self, index: usize, stream: StreamId) -> Header {
        let sequence = match stream {
            StreamId::NONE => 0,
            _ => {
                let next = &mut self.sequences[index][usize::from(stream == StreamId::RELIABLE)];
                std::mem::replace(next, next.wrapping_add(1))
            }
        };
        Header { session: SessionId::CLIENT, stream, sequence, key: ClientKey::INVALID }
    }

    /// Sends a message whose submessages are bytes of the input.
    fn body(&mut self, world: &mut World, index: usize, stream: StreamId) {
        let Header { session, sequence, .. } = self.header(index, stream);
        let message = [&[session.0, stream.0], &sequence.to_le_bytes()[..], self.bytes()].concat();
        world.port.receive(PeerAddress::Number(index as u32), &message);
    }

    fn send<'p, P: Payload<'p>>(&mut self, world: &mut World, index: usize, stream: StreamId, payload: &P) {
        self.send_as(world, index, stream, Flags::NONE, payload);
    }

    fn send_as<'p, P: Payload<'p>>(
        &mut self,
        world: &mut World,
        index: usize,
        stream: StreamId,
        flags: Flags,
        payload: &P,
    ) {
        let header = self.header(index, stream);
        let order = if self.byte() == 0xff { ByteOrder::Big } else { ByteOrder::Little };
        let mut memory = [0; 1024];
        let mut builder = MessageBuilder::new(&mut memory, &header, order).unwrap();
        builder.add(flags, payload).unwrap();
        let length = builder.bytes();
        world.port.receive(PeerAddress::Number(index as u32), &memory[..length]);
    }

    /// Creates an object of any kind. The objects to which it refers have the number 1, or a number from the input.
    fn create(&mut self, world: &mut World, index: usize, stream: StreamId) {
        let choice = self.byte();
        let kind = KINDS[usize::from(choice % 8)];
        let (number, flags) = (u16::from(choice >> 4), Flags(self.byte() & (Flags::REUSE | Flags::REPLACE).0));
        let other = u16::from(choice >> 3 & 1);
        let id = |kind| ObjectId::new(other, kind);
        let owner = Owner::Object(id(ObjectKind::PARTICIPANT));
        let (names, types) = (["rt/a", "rt/b"], ["std_msgs::msg::dds_::String_", "std_msgs::msg::dds_::UInt32_"]);
        let topic = id(ObjectKind::TOPIC);
        let service = Service {
            name: "a",
            request_type: "std_srvs::srv::dds_::SetBool_Request_",
            reply_type: "std_srvs::srv::dds_::SetBool_Response_",
            request_topic: None,
            reply_topic: None,
        };
        let (entity, owner) = match kind {
            ObjectKind::PARTICIPANT => (Entity::Participant(Participant::default()), Owner::Domain(0)),
            ObjectKind::TOPIC => {
                let [name, type_name] = [names[usize::from(other)], types[usize::from(number & 1)]];
                (Entity::Topic(Topic { name, type_reference: None, type_name: Some(type_name) }), owner)
            }
            ObjectKind::PUBLISHER => (Entity::Publisher(Group::default()), owner),
            ObjectKind::SUBSCRIBER => (Entity::Subscriber(Group::default()), owner),
            ObjectKind::DATA_WRITER => {
                (Entity::DataWriter(DataWriter { topic, qos: None }), Owner::Object(id(ObjectKind::PUBLISHER)))
            }
            ObjectKind::DATA_READER => {
                (Entity::DataReader(DataReader { topic, qos: None }), Owner::Object(id(ObjectKind::SUBSCRIBER)))
            }
            ObjectKind::REQUESTER => (Entity::Requester(service), owner),
            _ => (Entity::Replier(service), owner),
        };
        let request = ObjectRequest { request: RequestId(10), object: ObjectId::new(number, kind) };
        self.send_as(world, index, stream, flags, &Create { request, object: Object::binary(entity, owner) });
    }

    fn write(&mut self, world: &mut World, index: usize, stream: StreamId) {
        let object = self.object();
        let data = self.bytes();
        self.send(world, index, stream, &WriteData { request: ObjectRequest { request: RequestId(11), object }, data });
    }

    fn read(&mut self, world: &mut World, index: usize) {
        let request = ObjectRequest { request: RequestId(12), object: self.object() };
        let [samples, elapsed, rate, pace] = [(); 4].map(|()| self.byte());
        let delivery = DeliveryControl {
            max_samples: if samples == 0xff { DeliveryControl::UNLIMITED } else { samples.into() },
            max_elapsed_s: elapsed.into(),
            max_bytes_per_s: rate.into(),
            min_pace_ms: pace.into(),
        };
        let stream = if samples % 2 == 0 { StreamId::RELIABLE } else { StreamId::BEST_EFFORT };
        let format = DataFormat::DATA;
        let read = ReadData { request, stream, format, content_filter: None, delivery: Some(delivery) };
        self.send(world, index, StreamId::RELIABLE, &read);
    }

    fn object(&mut self) -> ObjectId {
        let choice = self.byte();
        ObjectId::new(u16::from(choice >> 4), KINDS[usize::from(choice % 8)])
    }
}
