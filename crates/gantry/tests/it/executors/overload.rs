//! Tests of overload: losses are counted, and reliable publishers wait.

use super::*;
use test_support::ignore;

behaviours! {
    with_a_far_end: [losses_of_slow_callbacks_are_counted, a_keep_all_publisher_waits_for_slow_callbacks],
    alone: [
        a_topic_that_always_has_more_starves_no_other,
        a_blocked_callback_with_a_full_queue_holds_up_no_other,
    ],
}

fn losses_of_slow_callbacks_are_counted(case: &Case) {
    let (mut far, mut executor, node) = (case.far(), case.kind.executor_with_queue(8), node());
    executor.add_node(&node).unwrap();
    let (topic, (sender, told)) = (case.topic("flood"), value_channel());
    let subscription = node.create_subscription::<Point>(&topic, Qos::default().keep_last(5)).unwrap();
    node.add_callback(subscription, move |subscription, point| {
        std::thread::sleep(ms(1));
        sender.send((point.x as usize, subscription.overwritten())).unwrap();
    });
    far.advertise(&topic, "keep_last=5");
    let mut heard = spinning(&mut *executor, || {
        far.tell(&format!("flood {topic} 20"));
        told.take(100)
    });
    let published: u64 = far.tell(&format!("calm {topic}")).parse().unwrap();
    drain(&mut *executor);
    heard.extend(told.rest());
    assert!(heard.windows(2).all(|pair| pair[0].0 < pair[1].0), "{heard:?}");
    let (delivered, overwritten, dropped) = (heard.len() as u64, heard.last().unwrap().1, executor.dropped());
    assert_eq!(
        published,
        delivered + overwritten + dropped,
        "{delivered}, {overwritten} overwritten, {dropped} dropped"
    );
    assert!(published > delivered, "{published} messages were no overload");
}

fn a_keep_all_publisher_waits_for_slow_callbacks(case: &Case) {
    const LAST: usize = 3000; // more messages than a publisher keeps
    let (mut far, mut executor, listener) = (case.far(), case.executor(), Listener::new());
    executor.add_node(&listener.node).unwrap();
    listener.hear(case, "kept", all());
    let topic = case.topic("kept");
    far.advertise(&topic, "keep_all");
    far.begin(&format!("publish {topic} 1 {LAST}"));
    spinning(&mut *executor, || {
        assert_eq!(listener.take(LAST), (1..=LAST).map(|number| ("kept", number)).collect::<Vec<_>>());
    });
    far.end();
    assert_eq!(executor.dropped(), 0);
}

fn a_topic_that_always_has_more_starves_no_other(case: &Case) {
    let (mut executor, listener) = (case.executor(), Listener::new());
    feed_itself(&listener.node, &case.topic("own"), || ())();
    listener.hear(case, "other", all());
    executor.add_node(&listener.node).unwrap();
    let mut publisher = listener.node.create_publisher::<Point>(&case.topic("other"), all()).unwrap();
    assert!(publisher.wait_for_subscriptions(1, PATIENCE).unwrap());
    spinning(&mut *executor, || {
        for number in 1..=50 {
            publisher.publish_copy(&Point { x: f64::from(number), y: 0.0 }).unwrap();
            assert_eq!(listener.next(), ("other", number as usize));
        }
    });
}

fn a_blocked_callback_with_a_full_queue_holds_up_no_other(case: &Case) {
    if !case.kind.has_threads() && case.kind != Kind::CallbackIsolated {
        ignore("on one thread, a blocked callback holds up all others");
    }
    let (mut executor, listener) = (case.kind.executor_with_queue(4), Listener::new());
    let ((go, goes), (begun, begins)) = (value_channel::<()>(), value_channel());
    let group = listener.node.create_callback_group(CallbackGroupType::MutuallyExclusive);
    group
        .create_subscription_with_callback::<Point>(&case.topic("blocked"), all(), move |_| {
            begun.send(()).unwrap_or_default();
            let _ = goes.0.recv(); // until `go` is dropped
        })
        .unwrap();
    listener.hear(case, "other", all());
    let mut publishers =
        ["blocked", "other"].map(|name| listener.node.create_publisher::<Point>(&case.topic(name), all()).unwrap());
    executor.add_node(&listener.node).unwrap();
    for publisher in &mut publishers {
        assert!(publisher.wait_for_subscriptions(1, PATIENCE).unwrap());
    }
    let [blocked, other] = &mut publishers;
    for _ in 0..10 {
        blocked.publish_copy(&Point { x: 0.0, y: 0.0 }).unwrap();
    }
    spinning(&mut *executor, || {
        begins.next();
        for number in 1..=50 {
            other.publish_copy(&Point { x: f64::from(number), y: 0.0 }).unwrap();
        }
        // An executor whose queue drops events still delivers the newest sample, which arrives last.
        while listener.next() != ("other", 50) {}
        drop(go);
    });
}
