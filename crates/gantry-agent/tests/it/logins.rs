//! Tests of logins (CREATE_CLIENT) that come twice, late, or after a reset of the board, and of messages without a
//! session.

use crate::{
    sessions::create_client,
    support::{GOOD, PUBLISHER, Wire, pipe, stopped_agent},
};
use gantry_agent::{Agent, Config};
use gantry_xrce::wire::{
    ByteOrder, ClientKey, Delete, Flags, Header, Info, MessageBuilder, ObjectId, ObjectRequest, Payload, Property,
    RequestId, SessionId, Status, StatusAgent, StatusValue, StreamId, Submessage, SubmessageId, WriteData, parse,
};
use std::time::Duration;

test_support::tests!(
    a_copy_of_a_login_leaves_the_session_alone,
    a_login_after_a_reset_of_the_board_begins_the_session_anew,
    a_boot_nonce_tells_a_reset_from_a_copy,
    a_login_of_an_earlier_session_leaves_the_session_alone,
    an_agent_that_stood_still_leaves_the_session_where_it_is,
    messages_without_a_session_are_answered_so_that_the_client_logs_in
);

const KEY: u32 = 0x0b01;

/// Writes a message with one payload in the best-effort stream.
fn message<'p, P: Payload<'p>>(session: SessionId, sequence: u16, payload: &P) -> Vec<u8> {
    let header = Header { session, stream: StreamId::BEST_EFFORT, sequence, key: ClientKey::INVALID };
    let mut memory = [0; 128];
    let mut builder = MessageBuilder::new(&mut memory, &header, ByteOrder::Little).unwrap();
    builder.add(Flags::NONE, payload).unwrap();
    let length = builder.bytes();
    memory[..length].to_vec()
}

/// Sends a message, and returns the result of `read` for the answer.
fn ask<T>(wire: &mut impl Wire, message: &[u8], read: impl FnOnce(SubmessageId, &Submessage<'_>) -> T) -> Option<T> {
    wire.send(message);
    // The agent answers on this thread, so the answer is there when `send` returns.
    let answer = wire.receive(Duration::ZERO)?;
    let submessage = parse(&answer).unwrap().1.next().unwrap().unwrap();
    Some(read(submessage.id, &submessage))
}

/// Logs in.
fn log_in(wire: &mut impl Wire, session: SessionId) {
    let status =
        ask(wire, &create_client(session, KEY, &[]), |_, answer| answer.read::<StatusAgent<'_>>().unwrap().result);
    assert_eq!(status.map(|result| result.status), Some(StatusValue::OK));
}

/// Whether the agent accepts the message with number `sequence` of the best-effort stream. The message has a request
/// for an unknown object; if the agent accepts the message, it answers with a refusal.
fn is_taken(wire: &mut impl Wire, session: SessionId, sequence: u16) -> bool {
    let request = ObjectRequest { request: RequestId(20), object: ObjectId(5) };
    let data = message(session, sequence, &WriteData { request, data: &[1] });
    let status = ask(wire, &data, |_, answer| answer.read::<Status>().unwrap().reply.result.status);
    assert!(status.is_none_or(|status| status == StatusValue::UNKNOWN_REFERENCE));
    status.is_some()
}

fn line(agent: &Agent) -> impl Wire + use<> {
    pipe(agent, GOOD, 1)
}

fn a_copy_of_a_login_leaves_the_session_alone() {
    let (agent, _) = stopped_agent(Config::default());
    let mut wire = line(&agent);
    log_in(&mut wire, SessionId::CLIENT);
    assert!(is_taken(&mut wire, SessionId::CLIENT, 0));
    agent.advance(Duration::from_millis(99));
    log_in(&mut wire, SessionId::CLIENT);
    assert!(!is_taken(&mut wire, SessionId::CLIENT, 0), "the stream has begun anew");
    assert!(is_taken(&mut wire, SessionId::CLIENT, 1));
}

fn a_login_after_a_reset_of_the_board_begins_the_session_anew() {
    let (agent, _) = stopped_agent(Config::default());
    let mut wire = line(&agent);
    for _ in 0..2 {
        log_in(&mut wire, SessionId::CLIENT);
        assert!(is_taken(&mut wire, SessionId::CLIENT, 0));
        agent.advance(Duration::from_millis(101));
    }
    // A login from another host is not a copy. It begins a session if the board does not answer at its old address.
    let mut other = line(&agent);
    for _ in 0..2 {
        other.send(&create_client(SessionId::CLIENT, KEY, &[]));
        assert!(other.receive(Duration::ZERO).is_none());
        agent.advance(Duration::from_millis(500));
    }
    log_in(&mut other, SessionId::CLIENT);
    assert!(is_taken(&mut other, SessionId::CLIENT, 0));
}

fn a_boot_nonce_tells_a_reset_from_a_copy() {
    let (agent, _) = stopped_agent(Config::default());
    let mut wire = line(&agent);
    let log_in_with = |wire: &mut _, value| {
        let login = create_client(SessionId::CLIENT, KEY, &[Property { name: b"gantry", value }]);
        let status = ask(wire, &login, |_, answer| answer.read::<StatusAgent<'_>>().map(|answer| answer.result.status));
        assert_eq!(status, Some(Ok(StatusValue::OK)));
    };
    log_in_with(&mut wire, b"1boot");
    assert!(is_taken(&mut wire, SessionId::CLIENT, 0));
    agent.advance(Duration::from_millis(500)); // before the agent asks whether the client is alive
    log_in_with(&mut wire, b"1boot");
    assert!(!is_taken(&mut wire, SessionId::CLIENT, 0), "a copy that comes late begins the stream anew");
    log_in_with(&mut wire, b"1next");
    assert!(is_taken(&mut wire, SessionId::CLIENT, 0), "a reset is taken for a copy");
}

fn a_login_of_an_earlier_session_leaves_the_session_alone() {
    let (agent, _) = stopped_agent(Config::default());
    let mut wire = line(&agent);
    let (first, second) = (SessionId::CLIENT, SessionId(SessionId::CLIENT.0 + 1));
    log_in(&mut wire, first);
    log_in(&mut wire, second);
    assert!(is_taken(&mut wire, second, 0));
    log_in(&mut wire, first);
    assert!(is_taken(&mut wire, second, 1));
    // After a second, a login with an earlier session number is not a late copy: the board was reset, and its session
    // begins again.
    agent.advance(Duration::from_secs(1));
    log_in(&mut wire, first);
    assert!(is_taken(&mut wire, first, 0));
}

fn an_agent_that_stood_still_leaves_the_session_where_it_is() {
    let (agent, _) = stopped_agent(Config::default());
    let mut wire = line(&agent);
    log_in(&mut wire, SessionId::CLIENT);
    let mut other = line(&agent);
    // The agent reads the answer of the client after another login of the other host.
    for sequence in 0..3 {
        other.send(&create_client(SessionId::CLIENT, KEY, &[]));
        agent.advance(Duration::from_secs(2));
        other.send(&create_client(SessionId::CLIENT, KEY, &[]));
        assert!(other.receive(Duration::ZERO).is_none());
        while wire.receive(Duration::ZERO).is_some() {}
        assert!(is_taken(&mut wire, SessionId::CLIENT, sequence));
    }
}

fn messages_without_a_session_are_answered_so_that_the_client_logs_in() {
    let (agent, _) = stopped_agent(Config::default());
    let mut wire = line(&agent);
    let request = |object| ObjectRequest { request: RequestId(20), object };
    let data = message(SessionId::CLIENT, 0, &WriteData { request: request(PUBLISHER), data: &[1] });
    let read = |id, answer: &Submessage<'_>| (id, answer.read::<Info<'_>>().unwrap().reply);
    let (id, reply) = ask(&mut wire, &data, read).unwrap();
    assert_eq!((id, reply.related), (SubmessageId::INFO, request(ObjectId::AGENT)));
    assert_eq!(reply.result.implementation, 0, "the session is not known");
    let leave = message(SessionId::CLIENT, 1, &Delete { request: request(ObjectId::CLIENT) });
    let status = ask(&mut wire, &leave, |_, answer| answer.read::<Status>().unwrap().reply);
    assert_eq!(
        status.map(|reply| (reply.related, reply.result.status)),
        Some((request(ObjectId::CLIENT), StatusValue::OK))
    );
    // Submessages that only agents send, and noise, get no answer.
    for id in [SubmessageId::INFO, SubmessageId::STATUS, SubmessageId::DATA, SubmessageId(99)] {
        let foreign = [0x81, 1, 2, 0, id.0, 1, 4, 0, 0, 20, 0, 0x15];
        assert!(ask(&mut wire, &foreign, |_, _| ()).is_none(), "{id:?}");
    }
    assert!(agent.statistics().is_empty());
}
