//! Tests of the samples that callbacks get: order, history, and endpoints that come late, are incompatible, or leave.

use super::*;

behaviours! {
    with_a_far_end: [
        every_sample_comes_once_and_in_order,
        the_newest_of_a_burst_come_in_order,
        late_joiners_get_the_history,
        a_publisher_that_comes_while_it_sleeps_is_heard,
        samples_of_a_publisher_that_left_are_heard,
        only_compatible_publishers_are_heard,
        a_conversation_loses_no_wake_up,
        two_executors_hear_the_same,
        changes_of_the_graph_are_told,
    ],
    alone: [an_idle_executor_uses_no_cpu],
}

fn every_sample_comes_once_and_in_order(case: &Case) {
    let (mut far, mut executor, listener) = (case.far(), case.executor(), Listener::new());
    executor.add_node(&listener.node).unwrap();
    let names = ["a", "b", "c"];
    for name in names {
        listener.hear(case, name, all());
        far.advertise(&case.topic(name), "keep_all");
    }
    let heard = spinning(&mut *executor, || {
        for first in [1, 101, 201] {
            names.iter().for_each(|name| far.publish(&case.topic(name), first, first + 99));
        }
        listener.take(900)
    });
    for name in names {
        let numbers: Vec<_> = heard.iter().filter(|heard| heard.0 == name).map(|heard| heard.1).collect();
        assert_eq!(numbers, (1..=300).collect::<Vec<_>>(), "{name}");
    }
    drain(&mut *executor);
    assert_eq!((listener.rest(), executor.dropped()), (vec![], 0));
}

fn the_newest_of_a_burst_come_in_order(case: &Case) {
    let (mut far, mut executor, listener) = (case.far(), case.executor(), Listener::new());
    executor.add_node(&listener.node).unwrap();
    listener.hear(case, "burst", Qos::default().keep_last(3));
    far.advertise(&case.topic("burst"), "keep_last=3");
    far.publish(&case.topic("burst"), 1, 10);
    drain(&mut *executor);
    assert_eq!(listener.rest(), [("burst", 8), ("burst", 9), ("burst", 10)]);
}

fn late_joiners_get_the_history(case: &Case) {
    let (mut far, mut executor, listener) = (case.far(), case.executor(), Listener::new());
    executor.add_node(&listener.node).unwrap();
    let topic = case.topic("late");
    far.tell(&format!("advertise {topic} transient_local,keep_last=3"));
    far.publish(&topic, 1, 5);
    spinning(&mut *executor, || {
        let qos = Qos::default().transient_local();
        listener.hear(case, "late", qos);
        assert_eq!(listener.take(3), [("late", 3), ("late", 4), ("late", 5)]);
        far.tell(&format!("meet {topic} 1"));
        far.publish(&topic, 6, 6);
        assert_eq!(listener.next(), ("late", 6));
        // A VOLATILE subscription gets only new samples.
        let sender = listener.sender.clone();
        let volatile = move |point: Sample<Point>| sender.send(("volatile", point.x as usize)).unwrap();
        listener.node.create_subscription_with_callback(&topic, Qos::default(), volatile).unwrap();
        far.tell(&format!("meet {topic} 2"));
        far.publish(&topic, 7, 7);
        let mut both = listener.take(2);
        both.sort_unstable();
        assert_eq!(both, [("late", 7), ("volatile", 7)]);
    });
}

fn a_publisher_that_comes_while_it_sleeps_is_heard(case: &Case) {
    let (mut executor, listener) = (case.executor(), Listener::new());
    executor.add_node(&listener.node).unwrap();
    listener.hear(case, "news", all());
    spinning(&mut *executor, || {
        for round in 1..=3 {
            let mut far = case.far();
            far.advertise(&case.topic("news"), "keep_all");
            far.publish(&case.topic("news"), round, round);
            assert_eq!(listener.next(), ("news", round));
        }
    });
}

fn samples_of_a_publisher_that_left_are_heard(case: &Case) {
    let (mut far, mut executor, listener) = (case.far(), case.executor(), Listener::new());
    executor.add_node(&listener.node).unwrap();
    listener.hear(case, "left", all());
    far.advertise(&case.topic("left"), "keep_all");
    drain(&mut *executor); // also connects the subscription to the publisher
    far.publish(&case.topic("left"), 1, 20);
    drop(far);
    drain(&mut *executor);
    assert_eq!(listener.rest(), (1..=20).map(|number| ("left", number)).collect::<Vec<_>>());
}

fn only_compatible_publishers_are_heard(case: &Case) {
    let (mut far, mut fitting, mut executor, listener) = (case.far(), case.far(), case.executor(), Listener::new());
    executor.add_node(&listener.node).unwrap();
    let topic = case.topic("fit");
    far.tell(&format!("advertise {topic} best_effort"));
    listener.hear(case, "fit", all());
    fitting.advertise(&topic, "keep_all");
    spinning(&mut *executor, || {
        far.publish(&topic, 1, 5);
        fitting.publish(&topic, 6, 8);
        assert_eq!(listener.take(3), [("fit", 6), ("fit", 7), ("fit", 8)]);
        // A subscription that requests a weaker QoS gets the samples of both publishers.
        let sender = listener.sender.clone();
        let each = move |point: Sample<Point>| sender.send(("each", point.x as usize)).unwrap();
        listener.node.create_subscription_with_callback(&topic, Qos::default().best_effort(), each).unwrap();
        far.tell(&format!("meet {topic} 1"));
        fitting.tell(&format!("meet {topic} 2"));
        far.publish(&topic, 9, 9);
        assert_eq!(listener.next(), ("each", 9));
        fitting.publish(&topic, 10, 10);
        let mut both = listener.take(2);
        both.sort_unstable();
        assert_eq!(both, [("each", 10), ("fit", 10)]);
    });
}

/// Each message answers the message before it, so that a lost wake-up would end the conversation.
fn a_conversation_loses_no_wake_up(case: &Case) {
    const LAST: usize = 1001;
    let (mut far, mut executor, node) = (case.far(), case.executor(), node());
    let (asks, answers) = (case.topic("asks"), case.topic("answers"));
    let mut publisher = node.create_publisher::<Point>(&answers, all()).unwrap();
    let (sender, told) = value_channel();
    executor.add_node(&node).unwrap();
    let answer = move |point: Sample<Point>| {
        let mut loan = publisher.loan().unwrap();
        loan.x = point.x + 1.0;
        publisher.publish(loan).unwrap();
        sender.send(point.x as usize).unwrap();
    };
    node.create_subscription_with_callback(&asks, all(), answer).unwrap();
    // The timer also wakes threads.
    node.create_timer_with_callback(Duration::from_micros(300), |_| ()).unwrap();
    far.tell(&format!("advertise {asks} keep_all"));
    spinning(&mut *executor, || {
        far.begin(&format!("reply {answers} {asks} {LAST}"));
        assert_eq!(told.take(LAST / 2 + 1).last(), Some(&LAST));
        far.end();
    });
}

fn two_executors_hear_the_same(case: &Case) {
    let (mut far, mut executors) = (case.far(), [case.executor(), case.executor()]);
    let listeners = [Listener::new(), Listener::new()];
    for (executor, listener) in executors.iter_mut().zip(&listeners) {
        executor.add_node(&listener.node).unwrap();
        listener.hear(case, "same", all());
    }
    far.tell(&format!("advertise {} keep_all", case.topic("same")));
    far.tell(&format!("meet {} 2", case.topic("same")));
    let [one, other] = &mut executors;
    spinning(&mut **one, || {
        spinning(&mut **other, || {
            far.publish(&case.topic("same"), 1, 100);
            let expected: Vec<_> = (1..=100).map(|number| ("same", number)).collect();
            listeners.iter().for_each(|listener| assert_eq!(listener.take(100), expected));
        });
    });
}

fn changes_of_the_graph_are_told(case: &Case) {
    let (mut far, mut executor, node, topic) = (case.far(), case.executor(), node(), case.topic("shown"));
    let (sender, told) = value_channel();
    let (events, wanted) = (node.graph_events().unwrap(), topic.clone());
    node.add_callback(events, move |_, event| {
        let (is_added, GraphEvent::Added(entity) | GraphEvent::Removed(entity)) =
            (matches!(event, GraphEvent::Added(_)), event);
        if matches!(entity, GraphEntity::Publisher(info) if info.topic_name == wanted) {
            let _ = sender.send(is_added);
        }
    });
    executor.add_node(&node).unwrap();
    spinning(&mut *executor, || {
        for _ in 0..3 {
            far.tell(&format!("advertise {topic} keep_all"));
            assert!(told.next());
            far.tell(&format!("leave {topic}"));
            assert!(!told.next());
        }
    });
}

fn an_idle_executor_uses_no_cpu(case: &Case) {
    let (_, name) = Kind::ALL.into_iter().find(|(kind, _)| *kind == case.kind).unwrap();
    let mut child = start_child(&format!("idle-{name}"), &case.topic("idle"));
    child.say("");
    let line = child.line();
    let (cpu_ns, wall_ns) = line.split_once(' ').unwrap();
    let (cpu_ns, wall_ns): (u64, u64) = (cpu_ns.parse().unwrap(), wall_ns.parse().unwrap());
    assert!(cpu_ns * 20 < wall_ns, "{cpu_ns} of {wall_ns} ns with 50 silent topics and a timer of 20 ms");
    child.finish();
}
