//! A test in which a user's waker panics, and the user catches the panic.

use super::*;
use crate::{Node, topic::type_description};
use gantry_msgs::std_srvs::srv::{Trigger, Trigger_Request};
use std::{
    panic::{AssertUnwindSafe, catch_unwind, resume_unwind},
    thread::{ThreadId, current},
};

/// A waker that panics at each update on the given thread while it is armed.
struct Panics(AtomicBool, ThreadId);

impl Watcher for Panics {
    fn update(&self) {
        if self.0.load(Relaxed) && current().id() == self.1 {
            resume_unwind(Box::new("a panic that is not printed"));
        }
    }

    fn due_ns(&self) -> Option<u64> {
        None
    }
}

#[test]
fn a_client_is_served_after_a_panic_while_its_publisher_was_made() {
    let node = Node::builder("panic_tester").domain_id(crate::MAX_DOMAIN_ID).build().unwrap();
    let (topic, qos) = (request_topic("/panics"), Qos::default().reliable());
    let maker = Maker {
        presence: Arc::downgrade(node.presence()),
        node: node.fully_qualified_name(),
        service: "/panics".to_owned(),
        service_type: ServiceTypeDescription::for_service::<Trigger>(),
    };
    let (participant, request) = (node.participant(), type_description::<Trigger_Request>());
    let requests =
        gantry_shm::Subscription::new(participant.clone(), "/panic_tester", &topic, request.clone(), qos).unwrap();
    let server = ReplyWatcher::new(requests.matches(), maker); // the control thread does not update it
    let endpoint = node.publisher_on(&topic, request, qos, PublisherOptions::default()).unwrap();
    let client = endpoint.gid();
    let reply_topic = client_reply_topic("/panics", client);
    let panics = |_| Panics(AtomicBool::new(false), current().id());
    let panics = participant.watch(&reply_topic, Role::Publisher, panics).unwrap();
    panics.0.store(true, Relaxed);
    catch_unwind(AssertUnwindSafe(|| server.update())).unwrap_err();
    assert!(!IS_WORKING.get(), "else this thread waits for no server that it drops");
    assert!(
        !server.is_making.load(Acquire) && lock(&server.handover).making.is_none(),
        "else its server waits for ever"
    );
    panics.0.store(false, Relaxed);
    server.update();
    assert!(lock(&server.handover).made.contains_key(&client));
}
