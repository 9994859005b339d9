//! `rmw_wait`.

use crate::ros::*;
use rmw_abi::bindings::*;
use std::thread;
use test_support::tests;

tests![
    a_wait_names_the_subscriptions_that_have_messages,
    messages_of_another_thread_end_each_sleep,
    each_trigger_of_a_guard_condition_ends_a_wait,
    changes_of_the_graph_trigger_the_guard_condition_of_a_node,
    a_node_learns_of_another_one_that_leaves,
    two_wait_sets_may_take_turns_at_a_guard_condition,
];

fn a_wait_names_the_subscriptions_that_have_messages() {
    let ros = Ros::new();
    let publisher = ros.publisher(c"/wait", &DEFAULT_QOS);
    let subscriptions = [ros.subscription(c"/quiet", &DEFAULT_QOS), ros.subscription(c"/wait", &DEFAULT_QOS)];
    // SAFETY: this library made the context.
    let wait_set = unsafe { rmw_create_wait_set(ros.context(), 0) };
    assert_eq!(wait(wait_set, &subscriptions, &[], &mut [], NOW), (RMW_RET_TIMEOUT, vec![false, false]));
    for number in 0..100 {
        publish(publisher, Point { x: 0.5, number });
        assert_eq!(wait(wait_set, &subscriptions, &[], &mut [], TIME_LIMIT), (RMW_RET_OK, vec![false, true]));
        // The next wait also returns at once, because the message was not taken.
        assert_eq!(wait(wait_set, &subscriptions, &[], &mut [], TIME_LIMIT), (RMW_RET_OK, vec![false, true]));
        assert_eq!(take_numbers(subscriptions[1]), [number]);
        assert_eq!(wait(wait_set, &subscriptions, &[], &mut [], NOW), (RMW_RET_TIMEOUT, vec![false, false]));
    }
    // A wait set may wait for other conditions each time.
    publish(publisher, Point::default());
    assert_eq!(wait(wait_set, &subscriptions[..1], &[], &mut [], NOW), (RMW_RET_TIMEOUT, vec![false]));
    assert_eq!(wait(wait_set, &subscriptions[1..], &[], &mut [], NOW), (RMW_RET_OK, vec![true]));
    // SAFETY: this library made the wait set, which is not used again.
    assert_eq!(unsafe { rmw_destroy_wait_set(wait_set) }, RMW_RET_OK);
    ros.end(&[publisher], &subscriptions);
}

fn messages_of_another_thread_end_each_sleep() {
    let ros = Ros::new();
    let publisher = ros.publisher(c"/sleep", &rmw_qos_profile_t { depth: 1000, ..DEFAULT_QOS });
    let subscription = ros.subscription(c"/sleep", &rmw_qos_profile_t { depth: 1000, ..DEFAULT_QOS });
    // SAFETY: this library made the context.
    let wait_set = unsafe { rmw_create_wait_set(ros.context(), 0) };
    let address = publisher as usize;
    let thread = thread::spawn(move || {
        for number in 0..1000 {
            publish(address as *const rmw_publisher_t, Point { x: 0.0, number });
            thread::yield_now();
        }
    });
    let mut numbers = Vec::new();
    while numbers.len() < 1000 {
        assert_eq!(wait(wait_set, &[subscription], &[], &mut [], TIME_LIMIT).0, RMW_RET_OK, "{}", numbers.len());
        numbers.extend(take_numbers(subscription));
    }
    assert_eq!(numbers, (0..1000).collect::<Vec<_>>());
    thread.join().unwrap();
    // SAFETY: this library made the wait set, which is not used again.
    assert_eq!(unsafe { rmw_destroy_wait_set(wait_set) }, RMW_RET_OK);
    ros.end(&[publisher], &[subscription]);
}

fn each_trigger_of_a_guard_condition_ends_a_wait() {
    let ros = Ros::new();
    // SAFETY: this library made the context.
    let wait_set = unsafe { rmw_create_wait_set(ros.context(), 0) };
    // SAFETY: as above.
    let [ping, pong] = [(), ()].map(|()| unsafe { rmw_create_guard_condition(ros.context()) });
    // SAFETY: as above.
    let wait_set_of_thread = unsafe { rmw_create_wait_set(ros.context(), 0) } as usize;
    let (ping_address, pong_address) = (ping as usize, pong as usize);
    let thread = thread::spawn(move || {
        for _ in 0..1000 {
            let wait_set = wait_set_of_thread as *mut rmw_wait_set_t;
            let ready = wait(wait_set, &[], &[ping_address as *const _], &mut [], TIME_LIMIT);
            assert_eq!(ready, (RMW_RET_OK, vec![true]));
            // SAFETY: this library made the guard condition.
            assert_eq!(unsafe { rmw_trigger_guard_condition(pong_address as *const _) }, RMW_RET_OK);
        }
    });
    for _ in 0..1000 {
        // SAFETY: this library made the guard condition.
        assert_eq!(unsafe { rmw_trigger_guard_condition(ping) }, RMW_RET_OK);
        assert_eq!(wait(wait_set, &[], &[pong], &mut [], TIME_LIMIT), (RMW_RET_OK, vec![true]));
    }
    thread.join().unwrap();
    assert_eq!(wait(wait_set, &[], &[ping, pong], &mut [], NOW), (RMW_RET_TIMEOUT, vec![false, false]));
    for wait_set in [wait_set, wait_set_of_thread as *mut rmw_wait_set_t] {
        // SAFETY: this library made the wait set, which is not used again.
        assert_eq!(unsafe { rmw_destroy_wait_set(wait_set) }, RMW_RET_OK);
    }
    for guard_condition in [ping, pong] {
        // SAFETY: as above.
        assert_eq!(unsafe { rmw_destroy_guard_condition(guard_condition) }, RMW_RET_OK);
    }
    ros.end(&[], &[]);
}

fn changes_of_the_graph_trigger_the_guard_condition_of_a_node() {
    let ros = Ros::new();
    // SAFETY: this library made the context.
    let wait_set = unsafe { rmw_create_wait_set(ros.context(), 0) };
    // SAFETY: this library made the node.
    let graph = unsafe { rmw_node_get_graph_guard_condition(ros.node) };
    while wait(wait_set, &[], &[graph], &mut [], NOW).0 == RMW_RET_OK {} // consumes triggers of the node's creation
    let publisher = ros.publisher(c"/graph", &DEFAULT_QOS);
    assert_eq!(wait(wait_set, &[], &[graph], &mut [], TIME_LIMIT), (RMW_RET_OK, vec![true]));
    // SAFETY: this library made the wait set, which is not used again.
    assert_eq!(unsafe { rmw_destroy_wait_set(wait_set) }, RMW_RET_OK);
    ros.end(&[publisher], &[]);
}

fn a_node_learns_of_another_one_that_leaves() {
    let ros = Ros::new();
    // SAFETY: this library made the context.
    let wait_set = unsafe { rmw_create_wait_set(ros.context(), 0) };
    // SAFETY: this library made the node.
    let graph = unsafe { rmw_node_get_graph_guard_condition(ros.node) };
    for _ in 0..2 {
        // SAFETY: this library made the context, and both strings end with 0.
        let other = unsafe { rmw_create_node(ros.context(), c"other".as_ptr(), c"/".as_ptr()) };
        assert_eq!(wait(wait_set, &[], &[graph], &mut [], TIME_LIMIT), (RMW_RET_OK, vec![true]));
        while wait(wait_set, &[], &[graph], &mut [], NOW).0 == RMW_RET_OK {}
        // SAFETY: this library made the node, which is not used again.
        assert_eq!(unsafe { rmw_destroy_node(other) }, RMW_RET_OK);
        assert_eq!(wait(wait_set, &[], &[graph], &mut [], TIME_LIMIT), (RMW_RET_OK, vec![true]));
    }
    // SAFETY: this library made the wait set, which is not used again.
    assert_eq!(unsafe { rmw_destroy_wait_set(wait_set) }, RMW_RET_OK);
    ros.end(&[], &[]);
}

fn two_wait_sets_may_take_turns_at_a_guard_condition() {
    let ros = Ros::new();
    // SAFETY: this library made the context.
    let guard_condition = unsafe { rmw_create_guard_condition(ros.context()) };
    // SAFETY: as above.
    let wait_sets = [(), ()].map(|()| unsafe { rmw_create_wait_set(ros.context(), 0) });
    for turn in 0..100 {
        let (address, wait_set) = (guard_condition as usize, wait_sets[turn % 2] as usize);
        let thread = thread::spawn(move || {
            wait(wait_set as *mut rmw_wait_set_t, &[], &[address as *const _], &mut [], TIME_LIMIT)
        });
        // SAFETY: this library made the guard condition.
        assert_eq!(unsafe { rmw_trigger_guard_condition(guard_condition) }, RMW_RET_OK);
        assert_eq!(thread.join().ok(), Some((RMW_RET_OK, vec![true])));
    }
    // SAFETY: this library made the guard condition, which is not used again; the same holds below.
    assert_eq!(unsafe { rmw_destroy_guard_condition(guard_condition) }, RMW_RET_OK);
    for wait_set in wait_sets {
        // SAFETY: as above. The wait set may outlive the guard condition for which it waited.
        assert_eq!(unsafe { rmw_destroy_wait_set(wait_set) }, RMW_RET_OK);
    }
    ros.end(&[], &[]);
}
