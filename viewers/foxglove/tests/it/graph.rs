//! Tests of the connection graph that viewers see.

use crate::support::*;
use foxglove::ws_protocol::server::ServerMessage;
use gantry::Qos;
use serde_json::json;

tests![the_graph_is_sent_whole_and_then_its_changes];

fn the_graph_is_sent_whole_and_then_its_changes() {
    let node = node_in(15, "talker");
    let first = publisher(&node, "/first", Qos::default());
    let server = Server::start(15, &[]);
    let mut viewer = Viewer::new(&server);
    viewer.channel("/first");
    viewer.send(json!({ "op": "subscribeConnectionGraph" }));
    let graph = |viewer: &mut Viewer| {
        viewer.expect("graph", |message| match message {
            ServerMessage::ConnectionGraphUpdate(update) => Some(update.clone()),
            _ => None,
        })
    };
    let whole = graph(&mut viewer);
    let topic = whole.published_topics.iter().find(|topic| topic.name == "/first").unwrap();
    assert_eq!(topic.publisher_ids, ["/talker"]);
    let subscription = node.create_generic_subscription("/first", bytes_type(), Qos::default()).unwrap();
    let update = graph(&mut viewer);
    assert!(update.published_topics.is_empty());
    assert_eq!((update.subscribed_topics[0].name.as_str(), update.subscribed_topics.len()), ("/first", 1));
    drop(first);
    let update = graph(&mut viewer);
    assert_eq!((update.published_topics[0].name.as_str(), &update.removed_topics), ("/first", &Vec::new()));
    assert!(update.published_topics[0].publisher_ids.is_empty());
    drop(subscription);
    assert_eq!(graph(&mut viewer).removed_topics, ["/first"]);
}
