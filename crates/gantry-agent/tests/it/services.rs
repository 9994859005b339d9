//! Tests of services whose clients or servers are XRCE clients.

use crate::support::{Event, PARTICIPANT, TestClient, agent, host, socket};
use gantry_agent::{Config, Limits};
use gantry_msgs::std_srvs::srv::{SetBool, SetBool_Request, SetBool_Response};
use gantry_xrce::wire::{
    ByteOrder, Entity, ObjectId, ObjectKind, Owner, Service, StatusValue, StreamId, split_reply, split_request,
};

test_support::tests!(
    a_client_asks_a_server_of_the_host,
    a_client_serves_the_host,
    two_clients_talk_through_the_agent,
    malformed_requests_and_replies_are_refused,
    requests_without_replies_are_given_up,
    a_server_that_takes_nothing_holds_up_no_request_after_it_takes_again,
    a_service_of_two_types_is_refused
);

pub const REQUESTER: ObjectId = ObjectId::new(1, ObjectKind::REQUESTER);
pub const REPLIER: ObjectId = ObjectId::new(1, ObjectKind::REPLIER);

/// Creates a requester or a replier of a `std_srvs/SetBool` service.
#[track_caller]
pub fn create(client: &mut TestClient, id: ObjectId, name: &str) {
    let (request, reply) = (format!("rq/{name}Request"), format!("rr/{name}Reply"));
    let service = Service {
        name,
        request_type: "std_srvs::srv::dds_::SetBool_Request_",
        reply_type: "std_srvs::srv::dds_::SetBool_Response_",
        request_topic: Some(&request),
        reply_topic: Some(&reply),
    };
    let entity = if id == REQUESTER { Entity::Requester(service) } else { Entity::Replier(service) };
    assert_eq!(client.create(id, entity, Owner::Object(PARTICIPANT)), StatusValue::OK);
    client.read(id, StreamId::RELIABLE, u16::MAX);
}

/// Encodes a response as a CDR body.
pub fn response(success: bool, message: &str) -> Vec<u8> {
    let mut body = vec![success.into(), 0, 0, 0];
    body.extend((message.len() as u32 + 1).to_le_bytes().into_iter().chain(message.bytes()).chain([0]));
    body
}

fn a_client_asks_a_server_of_the_host() {
    let (_agent, udp, _) = agent(Config::default());
    let mut service = host().create_service::<SetBool>("/host_switch").unwrap();
    let mut client = TestClient::open(socket(&udp), 0x0601);
    create(&mut client, REQUESTER, "host_switch");
    for on in [true, false] {
        let asked = client.write(StreamId::RELIABLE, REQUESTER, &[], &[on.into()]);
        let mut request = None;
        client.until("a request", |_| {
            request = service.take_request().unwrap();
            request.is_some()
        });
        let request = request.unwrap();
        assert_eq!(request.data(), on);
        let answer = SetBool_Response { success: on, message: format!("is {on}") };
        service.send_response_copy(request.id(), &answer).unwrap();
        let before = client.data(REQUESTER).len();
        client.until("a reply", |client| client.data(REQUESTER).len() > before);
        let (answered, reply) = split_reply(client.data(REQUESTER)[before]).unwrap();
        assert_eq!((answered.request, answered.object), (asked, REQUESTER));
        assert_eq!(reply, response(on, &format!("is {on}")));
    }
}

fn a_client_serves_the_host() {
    let (_agent, udp, _) = agent(Config::default());
    let mut host_client = host().create_client::<SetBool>("/client_switch").unwrap();
    let mut client = TestClient::open(socket(&udp), 0x0602);
    create(&mut client, REPLIER, "client_switch");
    client.until("a server", |_| host_client.service_is_ready().unwrap());
    for on in [true, false] {
        let asked = host_client.send_request_copy(&SetBool_Request { data: on }).unwrap();
        let before = client.data(REPLIER).len();
        client.until("a request", |client| client.data(REPLIER).len() > before);
        let data = client.data(REPLIER)[before].to_vec();
        let (_, request) = split_request(&data, ByteOrder::Little).unwrap();
        assert_eq!(request, [u8::from(on)]);
        let identity = &data[..data.len() - request.len()];
        client.write(StreamId::RELIABLE, REPLIER, identity, &response(on, "done"));
        let mut reply = None;
        client.until("a reply", |_| {
            reply = host_client.take_response().unwrap();
            reply.is_some()
        });
        let reply = reply.unwrap();
        assert_eq!((reply.id(), reply.success(), reply.message()), (asked, on, "done"));
    }
}

fn two_clients_talk_through_the_agent() {
    let (_agent, udp, _) = agent(Config::default());
    let mut server = TestClient::open(socket(&udp), 0x0603);
    create(&mut server, REPLIER, "micro_switch");
    let mut asker = TestClient::open(socket(&udp), 0x0604);
    create(&mut asker, REQUESTER, "micro_switch");
    asker.write(StreamId::RELIABLE, REQUESTER, &[], &[1]);
    asker.spin(std::time::Duration::ZERO);
    server.until("a request", |server| server.data(REPLIER).len() == 1);
    let data = server.data(REPLIER)[0].to_vec();
    server.write(StreamId::RELIABLE, REPLIER, &data[..24], &response(true, "micro"));
    server.spin(std::time::Duration::ZERO);
    asker.until("a reply", |asker| asker.data(REQUESTER).len() == 1);
    assert_eq!(split_reply(asker.data(REQUESTER)[0]).unwrap().1, response(true, "micro"));
    // The identity of a request that no client has sent.
    server.write(StreamId::RELIABLE, REPLIER, &[7; 24], &response(true, "nobody"));
    let defective = server.write(StreamId::RELIABLE, REPLIER, &[], &[1, 2, 3]);
    assert_eq!(server.status(defective), StatusValue::INVALID_DATA);
}

fn malformed_requests_and_replies_are_refused() {
    let (agent, udp, _) = agent(Config::default());
    let mut service = host().create_service::<SetBool>("/strict_switch").unwrap();
    let mut host_client = host().create_client::<SetBool>("/strict_back").unwrap();
    let mut client = TestClient::open(socket(&udp), 0x0608);
    create(&mut client, REQUESTER, "strict_switch");
    create(&mut client, REPLIER, "strict_back");
    // A boolean must be 0 or 1.
    for body in [&[2][..], &[]] {
        let request = client.write(StreamId::RELIABLE, REQUESTER, &[], body);
        assert_eq!(client.status(request), StatusValue::INVALID_DATA, "{body:?}");
    }
    client.write(StreamId::RELIABLE, REQUESTER, &[], &[1]);
    client.until("the first request that arrives", |_| service.take_request().unwrap().is_some_and(|it| it.data()));
    client.until("a server", |_| host_client.service_is_ready().unwrap());
    host_client.send_request_copy(&SetBool_Request { data: true }).unwrap();
    client.until("a request", |client| client.data(REPLIER).len() == 1);
    let identity = client.data(REPLIER)[0][..24].to_vec();
    // Malformed responses: a text that is longer than the response, a text without its terminating 0, a text that
    // is not UTF-8, and a boolean that is neither 0 nor 1.
    let mut long = response(true, "boo");
    long[4..8].copy_from_slice(&0x7fff_ffff_u32.to_le_bytes());
    let endless = [&response(true, "boo")[..11], b"x"].concat();
    for body in [&long[..], &endless, &[1, 0, 0, 0, 3, 0, 0, 0, 0xff, 0xfe, 0], &[2, 0, 0, 0, 1, 0, 0, 0, 0]] {
        let reply = client.write(StreamId::RELIABLE, REPLIER, &identity, body);
        assert_eq!(client.status(reply), StatusValue::INVALID_DATA, "{body:?}");
    }
    client.write(StreamId::RELIABLE, REPLIER, &identity, &response(true, "done"));
    client.until("the reply", |_| host_client.take_response().unwrap().is_some_and(|it| it.message() == "done"));
    assert_eq!(agent.statistics()[0].counts.refused, 6);
}

fn requests_without_replies_are_given_up() {
    let limits = Limits { requests: 4, ..Limits::default() };
    let (agent, udp, _) = agent(Config { limits, ..Config::default() });
    let mut service = host().create_service::<SetBool>("/slow_switch").unwrap();
    let mut client = TestClient::open(socket(&udp), 0x0605);
    create(&mut client, REQUESTER, "slow_switch");
    let asked: Vec<_> = (0..6).map(|_| client.write(StreamId::RELIABLE, REQUESTER, &[], &[1])).collect();
    let mut requests = Vec::new();
    client.until("all requests", |_| {
        requests.extend(service.take_request().unwrap().map(|request| request.id()));
        requests.len() == asked.len()
    });
    for request in requests {
        service.send_response_copy(request, &SetBool_Response::default()).unwrap();
    }
    client.until("the replies", |client| client.data(REQUESTER).len() == 4);
    let answered: Vec<_> =
        client.data(REQUESTER).into_iter().map(|data| split_reply(data).unwrap().0.request).collect();
    assert_eq!(answered, asked[2..]);
    assert_eq!(agent.statistics()[0].counts.given_up, 2);
}

fn a_server_that_takes_nothing_holds_up_no_request_after_it_takes_again() {
    let (_agent, udp, _) = agent(Config::default());
    let mut service = host().create_service::<SetBool>("/stuck_switch").unwrap();
    let mut client = TestClient::open(socket(&udp), 0x0607);
    create(&mut client, REQUESTER, "stuck_switch");
    client.until("a refusal", |client| {
        client.write(StreamId::RELIABLE, REQUESTER, &[], &[1]);
        client.events.iter().any(|event| matches!(event, Event::Status(_, StatusValue::RESOURCES)))
    });
    // The agent answers the requests of a stream in order, so it has handled all earlier requests when this answer
    // arrives.
    assert_eq!(client.delete(ObjectId::new(0xabc, ObjectKind::TOPIC)), StatusValue::UNKNOWN_REFERENCE);
    while service.take_request().unwrap().is_some() {}
    client.events.clear();
    client.write(StreamId::RELIABLE, REQUESTER, &[], &[0]);
    client.until("the request", |client| {
        assert!(client.events.is_empty(), "{:?}", client.events);
        service.take_request().unwrap().is_some_and(|request| !request.data())
    });
}

fn a_service_of_two_types_is_refused() {
    let (_agent, udp, _) = agent(Config::default());
    let mut client = TestClient::open(socket(&udp), 0x0606);
    let service = Service {
        name: "mixed",
        request_type: "std_srvs::srv::dds_::SetBool_Request_",
        reply_type: "std_srvs::srv::dds_::Trigger_Response_",
        request_topic: None,
        reply_topic: None,
    };
    let status = client.create(REQUESTER, Entity::Requester(service), Owner::Object(PARTICIPANT));
    assert_eq!(status, StatusValue::UNKNOWN_REFERENCE);
}
