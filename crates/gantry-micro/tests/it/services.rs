//! Tests of services and of their clients.

use crate::world::{Line, World};
use gantry_micro::{EntityState, Memory, SampleIdentity, Service, ServiceClient};
use gantry_msgs::{
    gantry_cdr::Message,
    std_srvs::srv::{SetBool, SetBool_Request, SetBool_Response, SetBool_ResponseShape},
};
use gantry_xrce::wire::{ByteOrder, ObjectKind, Writer};

fn body<M: Message>(message: &M) -> Vec<u8> {
    message.to_cdr().unwrap()[4..].to_vec()
}

#[test]
fn a_service_answers() {
    let (line, mut memory, service) = (Line::default(), Memory::<512, 4>::new(), Service::<SetBool>::new());
    let mut world = World::new(&line, &mut memory);
    world.client.create_service(&service, "/motor/enable").unwrap();
    world.until("it is created", |world| service.state() == EntityState::Ready && !world.agent.reads.is_empty());
    let names = "motor/enable std_srvs::srv::dds_::SetBool_Request_ std_srvs::srv::dds_::SetBool_Response_ \
                 rq/motor/enableRequest rr/motor/enableReply";
    assert_eq!(world.agent.created.last().unwrap(), names);
    let id = SampleIdentity { writer: [7; 16], sequence: 42 };
    let mut identity = [0; SampleIdentity::BYTES];
    id.write(&mut Writer::new(&mut identity, ByteOrder::Little));
    let request = body(&SetBool_Request { data: true });
    assert!(world.agent.send(ObjectKind::REPLIER, &identity, &request));
    world.until("it arrives", |_| service.counts().received == 1);
    let taken = service.take_request().unwrap().unwrap();
    assert_eq!((taken.id, taken.message.data()), (id, true));
    drop(taken);
    let shape = SetBool_ResponseShape { message: "enabled" };
    service.send_response_with(&mut world.client, id, shape, |response| response.set_success(true)).unwrap();
    let owned = SetBool_Response { success: false, message: "again".into() };
    service.send_response(&mut world.client, id, &owned).unwrap();
    world.until("both arrive", |world| world.agent.written.len() == 2);
    let first = SetBool_Response { success: true, message: "enabled".into() };
    for ((kind, _, data), response) in world.agent.written.iter().zip([first, owned]) {
        assert_eq!(*kind, ObjectKind::REPLIER);
        assert_eq!(*data, [&identity[..], &body(&response)].concat());
    }
}

#[test]
fn a_service_client_gets_the_answer_to_its_request() {
    let (line, mut memory, enable) = (Line::default(), Memory::<512, 4>::new(), ServiceClient::<SetBool, 2>::new());
    let mut world = World::new(&line, &mut memory);
    world.client.create_service_client(&enable, "enable").unwrap();
    world.until("it is created", |world| enable.state() == EntityState::Ready && !world.agent.reads.is_empty());
    let first = enable.send_request(&mut world.client, &SetBool_Request { data: false }).unwrap();
    let second = enable.send_request_with(&mut world.client, (), |request| request.set_data(true)).unwrap();
    assert_ne!(first, second);
    world.until("both arrive", |world| world.agent.written.len() == 2);
    for (request, data) in [(first, false), (second, true)] {
        let (kind, related, written) = world.agent.written.remove(0);
        assert_eq!((kind, related.request, written), (ObjectKind::REQUESTER, request, body(&SetBool_Request { data })));
        let mut identity = related.request.0.to_be_bytes().to_vec();
        identity.extend(related.object.0.to_be_bytes());
        let response = body(&SetBool_Response { success: data, message: "done".into() });
        assert!(world.agent.send(ObjectKind::REQUESTER, &identity, &response));
    }
    world.until("both answers arrive", |_| enable.counts().received == 2);
    for (request, success) in [(first, false), (second, true)] {
        let response = enable.take_response().unwrap().unwrap();
        assert_eq!(
            (response.request, response.message.success(), response.message.message()),
            (request, success, "done")
        );
    }
}
