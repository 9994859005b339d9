//! Tests of `/rosout`: the log of a program is published.

use crate::support::*;
use gantry::{Node, Qos, RosoutLayer, Subscription};
use gantry_msgs::rcl_interfaces::msg::Log;
use std::time::Duration;
use tracing_subscriber::{Layer, filter::LevelFilter, layer::SubscriberExt};

tests![events_are_published_as_logs];

struct Panics;

impl std::fmt::Debug for Panics {
    fn fmt(&self, _: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        panic!("for the test")
    }
}

fn next(subscription: &mut Subscription<Log>) -> Log {
    assert!(subscription.wait(PATIENCE).unwrap());
    *subscription.take().unwrap().unwrap().to_message().unwrap()
}

fn events_are_published_as_logs() {
    let node = Node::builder("talker").namespace("/ns").domain_id(177).build().unwrap();
    let layer = RosoutLayer::new(&node).unwrap().with_filter(LevelFilter::INFO);
    let guard = tracing::subscriber::set_default(tracing_subscriber::registry().with(layer));
    tracing::info!(speed = 0.5, name = "x", "driving {}", 7);
    tracing::debug!("too small");
    tracing::error!(node = "/front/camera", "broken");
    // The second node of this name makes the library log an event itself.
    let _namesake = Node::builder("talker").namespace("/ns").domain_id(177).build().unwrap();
    // A subscription that is created later also gets the logs.
    let mut subscription = node.create_subscription::<Log>("/rosout", Qos::rosout()).unwrap();
    let driving = next(&mut subscription);
    assert_eq!(
        (driving.level, &*driving.name, &*driving.msg),
        (Log::INFO, "ns.talker", "driving 7 speed=0.5 name=\"x\"")
    );
    assert!(
        driving.file.ends_with("rosout.rs") && driving.line > 0 && driving.function.ends_with("rosout"),
        "{driving:?}"
    );
    assert!(driving.stamp.sec > 1_500_000_000);
    let broken = next(&mut subscription);
    assert_eq!((broken.level, &*broken.name, &*broken.msg), (Log::ERROR, "front.camera", "broken"));
    let own = next(&mut subscription);
    assert_eq!((own.level, &*own.name), (Log::WARN, "ns.talker"));
    assert!(own.msg.starts_with("two nodes of domain 177 have the name /ns/talker"), "{}", own.msg);
    let arguments = |flag: &str| ["--ros-args", flag].map(str::to_owned);
    let quiet = Node::builder("quiet").domain_id(177).ros_arguments(arguments("--disable-rosout-logs")).build();
    tracing::info!("not published");
    let loud = Node::builder("loud").domain_id(177).ros_arguments(arguments("--enable-rosout-logs")).build();
    assert!(!subscription.wait(Duration::ZERO).unwrap());
    drop((quiet.unwrap(), loud.unwrap()));
    // Only the event of a field whose `Debug` panics is lost.
    std::panic::catch_unwind(|| tracing::info!(field = ?Panics, "lost")).unwrap_err();
    tracing::info!("later");
    assert_eq!(next(&mut subscription).msg, "later");
    drop(guard);
}
