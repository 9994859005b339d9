//! The witness: a correct client, which runs beside the faulty clients of the input.

use super::Lines;
use crate::eventually;
use gantry_agent::{PeerAddress, Port};
use gantry_xrce::{
    session::{ClientConfig, ClientEvent, ClientSession, Link},
    stream::ArraySlots,
    time::Instant,
    wire::{
        ClientKey, Create, DataFormat, DataReader, DataWriter, DeliveryControl, Entity, Flags, Group, Object, ObjectId,
        ObjectKind, ObjectRequest, Owner, Participant, ReadData, StreamId, Topic,
    },
};
use std::time::Duration;

/// The key of the witness. No step of the input may use this key.
pub const KEY: ClientKey = ClientKey([0xf7, 0x1e, 0x55, 0x01]);
/// The address of the witness. No step of the input comes from this address.
const ADDRESS: PeerAddress = PeerAddress::Number(100);
const MTU_BYTES: usize = 512;

type Slots = ArraySlots<MTU_BYTES, 8>;

pub struct Witness {
    session: ClientSession<Slots, Slots, [u8; 2048], Slots>,
    now_us: u64,
    reported: Reported,
}

/// The events that the session of the witness has reported.
#[derive(Default)]
struct Reported {
    statuses: usize,
    newest_data: Option<u32>,
    harm: Option<String>,
}

impl Reported {
    fn take(&mut self, event: ClientEvent<'_>) {
        match event {
            ClientEvent::Status { result, .. } if result.status.is_ok() => self.statuses += 1,
            ClientEvent::Data { data, .. } => {
                self.newest_data = data.first_chunk().map(|number| u32::from_le_bytes(*number));
            }
            ClientEvent::Connected | ClientEvent::Clock(_) => {}
            other => self.harm = Some(format!("{other:?}")),
        }
    }
}

impl Witness {
    pub fn new() -> Self {
        let config = ClientConfig { key: KEY, mtu_bytes: MTU_BYTES as u16, boot_nonce: None };
        let link = Link::new(Slots::new(), Slots::new(), [0; 2048], Slots::new());
        let mut session = ClientSession::new(config, link);
        session.open(Instant::from_us(0));
        Self { session, now_us: 0, reported: Reported::default() }
    }

    pub fn pass(&mut self, time: Duration) {
        self.now_us += time.as_micros() as u64;
    }

    /// Exchanges messages with the agent until none is left.
    pub fn spin(&mut self, port: &Port, lines: &Lines) {
        let now = Instant::from_us(self.now_us);
        let Self { session, reported, .. } = self;
        loop {
            let mut is_done = true;
            session.check(now, &mut |event| reported.take(event));
            while let Some(message) = session.transmit(now) {
                port.receive(ADDRESS, message);
                is_done = false;
            }
            while let Some(message) = lines.next_to_witness() {
                session.receive(&message, now, &mut |event| reported.take(event));
                is_done = false;
            }
            if is_done {
                return;
            }
        }
    }

    /// Panics if the witness has lost its connection or noticed an error.
    pub fn check(&self) {
        assert!(self.session.is_connected() && self.reported.harm.is_none(), "{:?}", self.reported.harm);
    }

    /// Creates a data writer and a data reader for one topic.
    pub fn begin(&mut self, port: &Port, lines: &Lines) {
        let id = |kind| ObjectId::new(1, kind);
        let owner = Owner::Object(id(ObjectKind::PARTICIPANT));
        let topic = Topic { name: "rt/witness", type_reference: None, type_name: Some("std_msgs::msg::dds_::UInt32_") };
        let objects = [
            (ObjectKind::PARTICIPANT, Entity::Participant(Participant::default()), Owner::Domain(0)),
            (ObjectKind::TOPIC, Entity::Topic(topic), owner),
            (ObjectKind::PUBLISHER, Entity::Publisher(Group::default()), owner),
            (ObjectKind::SUBSCRIBER, Entity::Subscriber(Group::default()), owner),
            (
                ObjectKind::DATA_WRITER,
                Entity::DataWriter(DataWriter { topic: id(ObjectKind::TOPIC), qos: None }),
                Owner::Object(id(ObjectKind::PUBLISHER)),
            ),
            (
                ObjectKind::DATA_READER,
                Entity::DataReader(DataReader { topic: id(ObjectKind::TOPIC), qos: None }),
                Owner::Object(id(ObjectKind::SUBSCRIBER)),
            ),
        ];
        for (kind, entity, owner) in objects {
            let create = |request| Create {
                request: ObjectRequest { request, object: id(kind) },
                object: Object::binary(entity, owner),
            };
            self.session.request(StreamId::RELIABLE, Flags::NONE, 200, create).unwrap();
            let before = self.reported.statuses;
            eventually("the witness has an object", || {
                self.spin(port, lines);
                self.reported.statuses > before
            });
        }
        let delivery = Some(DeliveryControl {
            max_samples: DeliveryControl::UNLIMITED,
            max_elapsed_s: 0,
            max_bytes_per_s: 0,
            min_pace_ms: 0,
        });
        let read = |request| ReadData {
            request: ObjectRequest { request, object: id(ObjectKind::DATA_READER) },
            stream: StreamId::RELIABLE,
            format: DataFormat::DATA,
            content_filter: None,
            delivery,
        };
        self.session.request(StreamId::RELIABLE, Flags::NONE, 40, read).unwrap();
        self.spin(port, lines);
    }

    /// Publishes a sample, and checks that it comes back through Gantry.
    pub fn exchange(&mut self, port: &Port, lines: &Lines) {
        const NUMBER: u32 = 0x1234_5678;
        let writer = ObjectId::new(1, ObjectKind::DATA_WRITER);
        self.session.write(StreamId::RELIABLE, writer, &[], &NUMBER.to_le_bytes()).unwrap();
        eventually("the witness gets its sample", || {
            self.pass(Duration::from_millis(1)); // lets a delayed acknowledgement free memory
            self.spin(port, lines);
            self.check();
            self.reported.newest_data == Some(NUMBER)
        });
    }
}
