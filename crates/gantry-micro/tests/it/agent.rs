//! An agent for tests. It records the requests of a client, and sends data when a test asks for it.

use gantry_micro::{Instant, Time};
use gantry_xrce::{
    session::{AgentEvent, AgentSession, Link, Peer, farewell, info, welcome},
    stream::HEADER_BYTES,
    wire::{
        CreateClient, Entity, GetInfo, ObjectId, ObjectKind, ObjectRequest, Representation, ResultStatus, StatusValue,
        StreamId, SubmessageId, parse,
    },
};
use std::collections::{BTreeMap, VecDeque};
use test_support::xrce::streams::HeapSlots;

type Session = AgentSession<HeapSlots, HeapSlots, Vec<u8>, HeapSlots>;

/// An agent for one client.
#[derive(Default)]
pub struct Agent {
    session: Option<Box<Session>>,
    /// The answers outside of sessions that have not been sent yet.
    answers: VecDeque<Vec<u8>>,
    /// The descriptions of the objects, by the object's identifier.
    pub objects: BTreeMap<u16, String>,
    /// The descriptions of the objects in the order of their creation.
    pub created: Vec<String>,
    /// The last READ_DATA of each object, by the object's identifier.
    pub reads: BTreeMap<u16, (StreamId, ObjectRequest)>,
    /// The data that the client wrote: the kind of the sending object, the request, and the bytes.
    pub written: Vec<(ObjectKind, ObjectRequest, Vec<u8>)>,
    /// A text. The agent refuses each object whose description contains it.
    pub refused: Option<&'static str>,
}

fn time(now: Instant) -> Time {
    Time::from_ns(1_700_000_000_000_000_000 + now.as_us() as i64 * 1000)
}

impl Agent {
    pub fn receive(&mut self, message: &[u8], now: Instant) {
        let (header, submessages) = parse(message).unwrap();
        if header.session.is_none() {
            for submessage in submessages.map(Result::unwrap) {
                assert_eq!(submessage.id, SubmessageId::CREATE_CLIENT);
                let CreateClient { client } = submessage.read().unwrap();
                let peer = Peer::new(&client);
                let slots = |count| HeapSlots::new(count, HEADER_BYTES + usize::from(peer.mtu_bytes));
                let link = Link::new(slots(16), slots(16), vec![0; 4096], slots(4));
                self.session = Some(Box::new(AgentSession::new(peer, link, now)));
                (self.objects, self.reads) = (BTreeMap::new(), BTreeMap::new());
                self.answers.push_back(welcome(&mut [0; 64], &peer, ResultStatus::OK).unwrap().to_vec());
            }
            return;
        }
        let Some(session) = self.session.as_mut().filter(|session| session.peer().session == header.session) else {
            for submessage in submessages.map(Result::unwrap) {
                if submessage.id == SubmessageId::GET_INFO {
                    let GetInfo { request, .. } = submessage.read().unwrap();
                    self.answers.push_back(info(&mut [0; 64], &header, request, false).unwrap().to_vec());
                }
            }
            return;
        };
        let (mut statuses, mut is_closed) = (Vec::new(), None);
        let Self { objects, created, reads, written, refused, .. } = self;
        session.receive(&header, message, now, time(now), &mut |event| match event {
            AgentEvent::Create { stream, create, .. } => {
                let name = describe(&create.object.representation);
                let status = match refused.filter(|refused| name.contains(refused)) {
                    Some(_) => StatusValue::DENIED,
                    None => StatusValue::OK,
                };
                if status.is_ok() {
                    objects.insert(create.request.object.0, name.clone());
                    created.push(name);
                }
                statuses.push((stream, create.request, ResultStatus { status, implementation: 0 }));
            }
            AgentEvent::Read { stream, read } => {
                assert!(objects.contains_key(&read.request.object.0) && stream.is_reliable());
                reads.insert(read.request.object.0, (read.stream, read.request));
            }
            AgentEvent::Write { request, data, .. } => {
                assert!(objects.contains_key(&request.object.0), "data of an object that was not created");
                written.push((request.object.kind(), request, data.to_vec()));
            }
            AgentEvent::Close { request } => is_closed = Some(request),
            other => panic!("{other:?}"),
        });
        for (stream, request, result) in statuses {
            session.status(stream, request, result).unwrap();
        }
        if let Some(request) = is_closed {
            self.answers.push_back(farewell(&mut [0; 64], &header, request).unwrap().to_vec());
            self.session = None;
        }
    }

    pub fn transmit(&mut self, now: Instant) -> Option<Vec<u8>> {
        self.answers.pop_front().or_else(|| Some(self.session.as_mut()?.transmit(now, time(now))?.to_vec()))
    }

    /// Forgets the client, as if the agent was restarted.
    pub fn restart(&mut self) {
        *self = Self::default();
    }

    /// The object of this kind, if there is exactly one.
    pub fn object(&self, kind: ObjectKind) -> Option<ObjectId> {
        let mut all = self.objects.keys().map(|&id| ObjectId(id)).filter(|id| id.kind() == kind);
        all.next().filter(|_| all.next().is_none())
    }

    /// Sends data to the data reader, requester or replier of this kind. Returns `false` if its stream is full.
    pub fn send(&mut self, kind: ObjectKind, identity: &[u8], body: &[u8]) -> bool {
        let (stream, request) = self.reads[&self.object(kind).unwrap().0];
        self.session.as_mut().unwrap().send(stream, request, identity, body).is_ok()
    }
}

/// Describes an object by the names in its representation.
fn describe(representation: &Representation<'_>) -> String {
    match representation {
        Representation::Binary(Entity::Participant(participant)) => participant.name.unwrap_or_default().into(),
        Representation::Binary(Entity::Topic(topic)) => format!("{} {}", topic.name, topic.type_name.unwrap()),
        Representation::Binary(Entity::Publisher(_)) => "publisher".into(),
        Representation::Binary(Entity::Subscriber(_)) => "subscriber".into(),
        Representation::Binary(Entity::DataWriter(writer)) => format!("writer {:?}", writer.qos.unwrap().common),
        Representation::Binary(Entity::DataReader(reader)) => format!("reader {:?}", reader.qos.unwrap().common),
        Representation::Binary(Entity::Requester(service) | Entity::Replier(service)) => [
            service.name,
            service.request_type,
            service.reply_type,
            service.request_topic.unwrap(),
            service.reply_topic.unwrap(),
        ]
        .join(" "),
        other => panic!("{other:?}"),
    }
}
