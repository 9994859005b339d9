//! Tests of topics: channels, subscriptions on demand, and viewers that stall.

use crate::support::*;
use foxglove::ws_protocol::server::ServerMessage;
use gantry::{Qos, TypeDescription};
use serde_json::json;

tests![
    channels_have_their_schemas_and_come_and_go,
    a_topic_is_subscribed_while_a_viewer_wants_it,
    messages_arrive_byte_for_byte_at_every_viewer,
    a_latched_message_reaches_viewers_that_come_later,
    topics_are_chosen_by_options,
    a_stalled_viewer_costs_the_publisher_nothing_and_misses_the_oldest,
    messages_that_the_server_takes_too_late_are_counted_by_topic,
    strange_pages_and_strange_messages_are_refused,
];

fn channels_have_their_schemas_and_come_and_go() {
    let node = node_in(1, "talker");
    let first = publisher(&node, "/first", Qos::default());
    let server = Server::start(1, &[]);
    let mut viewer = Viewer::new(&server);
    viewer.expect("server info", |message| match message {
        ServerMessage::ServerInfo(info) => {
            assert_eq!(info.supported_encodings, ["cdr", "json"]);
            Some(())
        }
        _ => None,
    });
    let (id, name, schema) = viewer.channel("/first");
    assert_eq!((name.as_str(), schema.as_str()), ("viewer_test/msg/Bytes", "uint64 number\nuint8[] data\n"));
    let _second = publisher(&node, "/second", Qos::default());
    assert_ne!(viewer.channel("/second").0, id);
    drop(first);
    viewer.expect("unadvertise", |message| match message {
        ServerMessage::Unadvertise(gone) => {
            assert_eq!(gone.channel_ids, [id]);
            Some(())
        }
        _ => None,
    });
}

fn a_topic_is_subscribed_while_a_viewer_wants_it() {
    let node = node_in(2, "talker");
    let mut talker = publisher(&node, "/numbers", Qos::default());
    let server = Server::start(2, &[]);
    let mut viewer = Viewer::new(&server);
    viewer.channel("/numbers");
    assert_eq!(talker.subscription_count().unwrap(), 0, "no viewer wants the topic");
    drop(viewer);
    let mut viewers = [(); 2].map(|()| Viewer::new(&server));
    for viewer in &mut viewers {
        viewer.subscribe(7, "/numbers");
    }
    wait_for(&mut talker, 1); // one subscription for both viewers
    viewers[0].send(json!({ "op": "unsubscribe", "subscriptionIds": [7] }));
    let [_, last] = viewers;
    drop(last);
    wait_for(&mut talker, 0);
}

fn messages_arrive_byte_for_byte_at_every_viewer() {
    let node = node_in(3, "talker");
    let mut talker = publisher(&node, "/numbers", Qos::default());
    let server = Server::start(3, &[]);
    let mut viewers = [(); 3].map(|()| Viewer::new(&server));
    for (viewer, id) in viewers.iter_mut().zip([1, 2, 9]) {
        viewer.subscribe(id, "/numbers");
    }
    wait_for(&mut talker, 1);
    let begin = gantry::SourceTime::now().wall_ns;
    for (number, length) in [0, 1, 7, 130, 70_000, 6_220_800].into_iter().enumerate() {
        let message = bytes_message(number as u64, length);
        talker.publish_copy(&message).unwrap();
        for (viewer, id) in viewers.iter_mut().zip([1, 2, 9]) {
            let (time_ns, data) = viewer.message(id);
            assert!(data == cdr(&message), "message {number}");
            assert!((begin..=gantry::SourceTime::now().wall_ns).contains(&time_ns), "{time_ns}");
        }
    }
}

fn a_latched_message_reaches_viewers_that_come_later() {
    let node = node_in(4, "talker");
    let mut map = publisher(&node, "/map", Qos::default().keep_last(1).transient_local());
    map.publish_copy(&bytes_message(1, 100)).unwrap();
    let server = Server::start(4, &[]);
    let mut first = Viewer::new(&server);
    first.subscribe(1, "/map");
    assert_eq!(first.message(1).1, cdr(&bytes_message(1, 100)));
    let mut second = Viewer::new(&server);
    second.subscribe(5, "/map");
    assert_eq!(second.message(5).1, cdr(&bytes_message(1, 100)));
}

fn topics_are_chosen_by_options() {
    let node = node_in(5, "talker");
    let _talkers =
        ["/front/image", "/rear/image", "/scan", "/_hidden"].map(|name| publisher(&node, name, Qos::default()));
    let server = Server::start(5, &["--regex", "image|hidden", "--exclude", "rear"]);
    let mut viewer = Viewer::new(&server);
    let topics = viewer.expect("channels", |message| match message {
        ServerMessage::Advertise(advertise) => {
            Some(advertise.channels.iter().map(|channel| channel.topic.to_string()).collect::<Vec<_>>())
        }
        _ => None,
    });
    assert_eq!(topics, ["/front/image"]);
}

fn a_stalled_viewer_costs_the_publisher_nothing_and_misses_the_oldest() {
    const IMAGES: u64 = 200;
    const IMAGE_BYTES: usize = 500_000;
    let node = node_in(6, "camera");
    let mut images = publisher(&node, "/image", Qos::default().keep_last(1));
    let mut ticks = publisher(&node, "/tick", Qos::default());
    (0..IMAGES).for_each(|number| _ = images.publish_copy(&bytes_message(number, IMAGE_BYTES)).unwrap());
    let memory_bytes = images.memory_bytes();
    let mut server = Server::start(6, &["--queue", "4M"]);
    let (mut stalled, mut awake) = (Viewer::new(&server), Viewer::new(&server));
    for viewer in [&mut stalled, &mut awake] {
        viewer.subscribe(1, "/image");
        viewer.subscribe(2, "/tick");
    }
    wait_for(&mut images, 1);
    wait_for(&mut ticks, 1);
    for number in 0..IMAGES {
        images.publish_copy(&bytes_message(number, IMAGE_BYTES)).unwrap();
        ticks.publish_copy(&bytes_message(number, 0)).unwrap();
        // While the stalled viewer reads nothing, the other viewer receives each message.
        assert_eq!(awake.message(1).1, cdr(&bytes_message(number, IMAGE_BYTES)));
        assert_eq!(awake.message(2).1, cdr(&bytes_message(number, 0)));
    }
    // The publisher keeps at most the newest ten images and one image that the server is copying.
    let kept = (images.memory_bytes() - memory_bytes) / IMAGE_BYTES;
    assert!(kept <= 11, "the publisher keeps {kept} images more than without viewers");
    let line = server.line_with("is slower than its topics");
    assert!(line.contains("/image ") && !line.contains("/tick "), "{line}");
    // Now the stalled viewer reads the oldest messages, which were already in its socket, and the newest ones. The
    // dropped messages between them are counted.
    let mut got = Vec::new();
    while got.last() != Some(&(IMAGES - 1)) {
        let (_, data) = stalled.message(1);
        got.push(u64::from_le_bytes(data[4..12].try_into().unwrap()));
    }
    assert!(got.is_sorted() && got.len() < IMAGES as usize, "{got:?}");
    let tail: Vec<u64> = got[got.len() - 5..].to_vec();
    assert_eq!(tail, ((IMAGES - 5)..IMAGES).collect::<Vec<_>>());
    let ticks: Vec<u64> =
        (0..IMAGES).map(|_| u64::from_le_bytes(stalled.message(2).1[4..12].try_into().unwrap())).collect();
    assert!(ticks.into_iter().eq(0..IMAGES), "small topics get through");
    let missing = IMAGES - got.len() as u64;
    let sentence = format!("this viewer is slower than its topics: {missing} messages were dropped");
    stalled.expect("the count of drops", |message| match message {
        ServerMessage::Status(status) => status.message.starts_with(&sentence).then_some(()),
        _ => None,
    });
    // The count of dropped messages remains after the subscription and the viewer have ended.
    stalled.send(json!({ "op": "unsubscribe", "subscriptionIds": [1] }));
    stalled.expect("the end of the problem", |message| matches!(message, ServerMessage::RemoveStatus(_)).then_some(()));
    stalled.close();
    stalled.read_to_end();
    let line = server.line_with("is gone");
    assert!(line.contains(&format!("{missing} messages were dropped, oldest first: /image {missing}")), "{line}");
    drop(awake);
    let output = server.interrupt();
    assert_eq!(
        output,
        format!(
            "viewers were slower than their topics: {missing} messages were dropped, oldest first: /image {missing}\n"
        )
    );
}

/// A topic has two publishers with different types. They publish while the server is stopped (SIGSTOP), so the server
/// loses messages.
fn messages_that_the_server_takes_too_late_are_counted_by_topic() {
    const MESSAGES: u64 = 500;
    let node = node_in(9, "talker");
    let other_type = TypeDescription { name: "viewer_test/msg/Other".into(), ..bytes_type() };
    let mut talkers = [bytes_type(), other_type]
        .map(|of_type| node.create_generic_publisher("/numbers", of_type, Qos::default()).unwrap());
    let server = Server::start(9, &[]);
    let mut viewer = Viewer::new(&server);
    let channels = viewer.expect("channels", |message| match message {
        ServerMessage::Advertise(advertise) => {
            Some(advertise.channels.iter().map(|channel| channel.id).collect::<Vec<_>>())
        }
        _ => None,
    });
    let subscriptions = [1, 2].map(|id| json!({ "id": id, "channelId": channels[id - 1] }));
    viewer.send(json!({ "op": "subscribe", "subscriptions": subscriptions }));
    viewer.wait_for_server();
    talkers.iter_mut().for_each(|talker| wait_for(talker, 1));
    server.signal(Signal::STOP);
    for number in 0..MESSAGES {
        talkers.iter_mut().for_each(|talker| _ = talker.publish_copy(&bytes_message(number, 0)).unwrap());
    }
    server.signal(Signal::CONT);
    let mut got = 0;
    for id in [1, 2] {
        let mut number = 0;
        while number != MESSAGES - 1 {
            number = u64::from_le_bytes(viewer.message(id).1[4..12].try_into().unwrap());
            got += 1;
        }
    }
    drop(talkers);
    let mut gone = 0;
    while gone < channels.len() {
        gone += viewer.expect("unadvertise", |message| match message {
            ServerMessage::Unadvertise(gone) => Some(gone.channel_ids.len()),
            _ => None,
        });
    }
    let lost = 2 * MESSAGES - got;
    assert!(lost > 0, "the server was stopped");
    assert_eq!(server.interrupt(), format!("the server took {lost} messages too late: /numbers {lost}\n"));
}

fn strange_pages_and_strange_messages_are_refused() {
    let server = Server::start(7, &["--origin", "https://viewer.example"]);
    let refusal = connect(server.port, "foxglove.sdk.v1", Some("https://evil.example")).err().unwrap();
    assert_eq!(refusal, "the page https://evil.example may not connect; --origin https://evil.example allows it");
    connect(server.port, "foxglove.websocket.v1", Some("https://viewer.example")).unwrap();
    let refusal = connect(server.port, "graphql-ws", None).err().unwrap();
    assert_eq!(refusal, "the server speaks foxglove.sdk.v1 and foxglove.websocket.v1");
    let mut viewer = Viewer::new(&server);
    viewer.send(json!({ "op": "subscribe", "subscriptions": [{ "id": 1, "channelId": 77 }] }));
    assert_eq!(viewer.status(), "there is no channel 77");
    for bytes in [vec![], vec![1, 2], vec![2; 13], vec![99; 40]] {
        viewer.send_binary(bytes);
        assert!(!viewer.status().is_empty());
    }
    viewer.send(json!({ "op": "dance" }));
    assert!(viewer.status().starts_with("the server does not understand this message"));
}
