//! Tests that executors lose no news while callbacks, nodes and spins begin and end.

use crate::{
    executors::{Kind, Tested},
    support::*,
};
use gantry::*;
use gantry_msgs::std_msgs::msg::UInt64;
use std::{
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, AtomicUsize, Ordering::*},
        mpsc,
    },
    time::{Duration, Instant},
};

tests![
    news_that_comes_while_its_callback_finds_nothing_is_not_lost,
    messages_of_publishers_that_leave_during_a_callback_are_not_lost,
    a_node_that_goes_between_two_steps_leaves_the_others,
    a_malformed_sample_holds_up_no_other,
    a_panic_is_passed_on_and_the_executor_can_go_on,
    callbacks_that_come_give_no_other_a_second_place_in_the_queue,
    a_node_goes_to_another_executor_with_events_in_the_queue_of_the_first,
    a_refused_node_leaves_nothing_behind,
    nothing_is_lost_while_callbacks_come_and_go_and_spins_end,
    simulated_time_that_is_ahead_starves_no_timer,
];

fn executors() -> impl Iterator<Item = (&'static str, Box<dyn Tested>)> {
    Kind::ALL.into_iter().map(|(kind, name)| (name, kind.executor()))
}

/// The executors except the kinds with `drop` in their names. Such executors queue every sample, so a callback that is
/// always ready would fill the queue.
fn unhurried() -> impl Iterator<Item = (&'static str, Box<dyn Tested>)> {
    executors().filter(|(name, _)| !name.contains("drop"))
}

fn a_node_that_goes_between_two_steps_leaves_the_others() {
    for (name, mut executor) in unhurried() {
        let ran = Arc::new(Mutex::new(Vec::new()));
        let nodes = [0, 1, 2].map(|number| {
            let (node, list) = (node(), ran.clone());
            let timer = Timer::new(&Clock::steady(), Duration::from_nanos(1)).unwrap();
            node.add_callback(timer, move |_, _| list.lock().unwrap().push(number));
            executor.add_node(&node).unwrap();
            node
        });
        assert!(executor.spin_once(PATIENCE).unwrap(), "{name}");
        executor.remove_node(&nodes[0]);
        executor.remove_node(&nodes[1]);
        ran.lock().unwrap().clear();
        assert!(executor.spin_once(PATIENCE).unwrap() && executor.spin_once(PATIENCE).unwrap(), "{name}");
        assert_eq!(*ran.lock().unwrap(), [2, 2], "{name}");
    }
}

fn messages_of_publishers_that_leave_during_a_callback_are_not_lost() {
    const WORKERS: u64 = 40;
    let qos = Qos::default().keep_all();
    for (name, mut executor) in executors() {
        let (node, heard) = (node(), Arc::new(Mutex::new(Vec::new())));
        let ((begun, begins), (go, goes)) = (mpsc::channel(), mpsc::channel::<()>());
        let list = heard.clone();
        let hear = move |done: Sample<UInt64>| {
            list.lock().unwrap().push(done.data);
            if done.data == 0 {
                begun.send(()).unwrap();
                goes.recv().unwrap();
            }
        };
        node.create_subscription_with_callback("done", qos, hear).unwrap();
        executor.add_node(&node).unwrap();
        std::thread::scope(|scope| {
            let workers = node.clone();
            scope.spawn(move || {
                for number in 0..=WORKERS {
                    let mut worker = workers.create_publisher::<UInt64>("done", qos).unwrap();
                    assert!(worker.wait_for_subscriptions(1, PATIENCE).unwrap());
                    worker.publish_copy(&UInt64 { data: number }).unwrap();
                    drop(worker);
                    if number == 0 {
                        begins.recv_timeout(PATIENCE).unwrap();
                    }
                }
                go.send(()).unwrap();
            });
            executor.spin_until(PATIENCE, &mut || heard.lock().unwrap().len() > WORKERS as usize).unwrap();
        });
        assert_eq!(*heard.lock().unwrap(), Vec::from_iter(0..=WORKERS), "{name}");
    }
}

/// Makes a counter of calls, with one handle for the callback and one for the test.
fn counter() -> (Arc<AtomicUsize>, Arc<AtomicUsize>) {
    let count = Arc::new(AtomicUsize::new(0));
    (count.clone(), count)
}

fn publish(publisher: &mut Publisher<Point>, x: usize) {
    let mut loan = publisher.loan().unwrap();
    loan.x = x as f64;
    publisher.publish(loan).unwrap();
}

fn news_that_comes_while_its_callback_finds_nothing_is_not_lost() {
    for (name, mut executor) in unhurried() {
        let node = node();
        let topic = format!("executor_losses_lost_{}", name.len());
        let (heard, count) = counter();
        node.create_subscription_with_callback::<Point>(&topic, Qos::default(), move |point| {
            count.store(point.x as usize, Release)
        })
        .unwrap();
        // The timer of this callback is always due, so one of several threads checks for news all the time.
        let busy = Timer::new(&Clock::steady(), Duration::from_nanos(1)).unwrap();
        node.create_callback_group(CallbackGroupType::Reentrant).add_callback(busy, |_, _| ());
        executor.add_node(&node).unwrap();
        let mut publisher = node.create_publisher::<Point>(&topic, Qos::default()).unwrap();
        publisher.wait_for_subscriptions(1, PATIENCE).unwrap();
        let canceler = executor.handle();
        std::thread::scope(|scope| {
            let spinner = scope.spawn(|| executor.spin().unwrap());
            // Each sample is published as soon as the callback got the previous one, which is the moment at which the
            // executor checks whether the callback has more.
            let lost = (1..2_000).find(|&number| {
                publish(&mut publisher, number);
                let give_up = Instant::now() + Duration::from_secs(10);
                while heard.load(Acquire) < number && Instant::now() < give_up {
                    std::hint::spin_loop();
                }
                heard.load(Acquire) < number
            });
            canceler.cancel();
            spinner.join().unwrap();
            assert_eq!(lost, None, "{name}");
        });
    }
}

fn a_malformed_sample_holds_up_no_other() {
    for (name, mut executor) in unhurried() {
        let node = node();
        let topic = format!("executor_losses_malformed_{}", name.len());
        let (heard, count) = counter();
        let qos = Qos::default().keep_all();
        node.create_subscription_with_callback::<gantry_msgs::std_msgs::msg::String>(&topic, qos, move |_| {
            count.fetch_add(1, Relaxed);
        })
        .unwrap();
        // This timer is always due, so the executor never sleeps.
        let _busy = node.create_timer_with_callback(Duration::from_nanos(1), |_| ()).unwrap();
        executor.add_node(&node).unwrap();
        let message_type = string_description(&node, &topic);
        let mut publisher = node.create_generic_publisher(&topic, message_type, qos).unwrap();
        publisher.wait_for_subscriptions(1, PATIENCE).unwrap();
        for bytes in [&[255u8; 8][..], &[2, 0, 0, 0, b'a', 0]] {
            for _ in 0..2 {
                publisher.publish_copy(bytes).unwrap();
            }
        }
        let is_heard = executor.spin_until(Duration::from_secs(5), &mut || heard.load(Relaxed) == 2).unwrap();
        assert!(is_heard, "{name}: {}", heard.load(Relaxed));
    }
}

fn a_panic_is_passed_on_and_the_executor_can_go_on() {
    for (name, mut executor) in executors() {
        let node = node();
        let topic = format!("executor_losses_panic_{}", name.len());
        let (heard, count) = counter();
        let canceler = executor.handle();
        node.create_subscription_with_callback::<Point>(&topic, Qos::default(), move |point| {
            // The panic is resumed without the panic hook, so that nothing is printed.
            if point.x == 1.0 {
                std::panic::resume_unwind(Box::new("on purpose"));
            }
            count.fetch_add(1, Relaxed);
            canceler.cancel();
        })
        .unwrap();
        executor.add_node(&node).unwrap();
        let mut publisher = node.create_publisher::<Point>(&topic, Qos::default()).unwrap();
        publisher.wait_for_subscriptions(1, PATIENCE).unwrap();
        for round in 1..=10 {
            publish(&mut publisher, 1);
            let spin = std::panic::AssertUnwindSafe(|| executor.spin());
            let panic = std::panic::catch_unwind(spin).unwrap_err();
            assert_eq!(panic.downcast_ref(), Some(&"on purpose"), "{name}");
            publish(&mut publisher, 2);
            executor.spin().unwrap();
            assert_eq!(heard.load(Relaxed), round, "{name}");
        }
    }
}

/// The type description of strings, as a publisher in the graph shows it.
fn string_description(node: &Node, topic: &str) -> TypeDescription {
    let typed = node.create_publisher::<gantry_msgs::std_msgs::msg::String>(topic, Qos::default()).unwrap();
    let mut types = node.topic_types(topic).unwrap();
    drop(typed);
    types.remove(0)
}

fn callbacks_that_come_give_no_other_a_second_place_in_the_queue() {
    let node = node();
    let mut executor = EventsExecutor::new();
    let topics: Vec<_> = (0..4).map(|number| format!("executor_losses_queue_{number}")).collect();
    let qos = Qos::default().keep_last(100);
    let mut publishers = Vec::new();
    for topic in &topics {
        node.create_subscription_with_callback::<Point>(topic, qos, |_| ()).unwrap();
        publishers.push(node.create_publisher::<Point>(topic, qos).unwrap());
    }
    executor.add_node(&node).unwrap();
    for publisher in &mut publishers {
        publisher.wait_for_subscriptions(1, PATIENCE).unwrap();
        (0..100).for_each(|number| publish(publisher, number));
    }
    for _ in 0..20 {
        assert!(executor.spin_once(PATIENCE).unwrap());
        assert!(executor.queued() <= topics.len(), "{executor:?}");
        node.create_timer_with_callback(PATIENCE, |_| ()).unwrap();
    }
}

fn a_node_goes_to_another_executor_with_events_in_the_queue_of_the_first() {
    let (stays, goes) = (node(), node());
    let (mut first, mut second) = (EventsExecutor::new(), EventsExecutor::new());
    let qos = Qos::default().keep_all();
    let (heard, count) = counter();
    let mut publishers = Vec::new();
    for number in 0..4 {
        let (topic, count) = (format!("executor_losses_goes_{number}"), count.clone());
        goes.create_subscription_with_callback::<Point>(&topic, qos, move |_| {
            count.fetch_add(1, Relaxed);
        })
        .unwrap();
        publishers.push(goes.create_publisher::<Point>(&topic, qos).unwrap());
    }
    let (ticked, ticks) = counter();
    first.add_node(&goes).unwrap();
    for publisher in &mut publishers {
        publisher.wait_for_subscriptions(1, PATIENCE).unwrap();
        publish(publisher, 1);
    }
    first.spin_once(PATIENCE).unwrap();
    assert_eq!((heard.load(Relaxed), first.queued()), (1, 3));
    let _timer = stays.create_timer_with_callback(Duration::from_millis(1), move |_| {
        ticks.fetch_add(1, Relaxed);
    });
    first.remove_node(&goes);
    first.add_node(&stays).unwrap();
    second.add_node(&goes).unwrap();
    assert!(first.spin_until(PATIENCE, &mut || ticked.load(Relaxed) > 5).unwrap());
    assert_eq!(heard.load(Relaxed), 1, "the first executor does not run them");
    publish(&mut publishers[3], 2);
    assert!(
        second.spin_until(PATIENCE, &mut || heard.load(Relaxed) == 5).unwrap(),
        "values that were taken are not lost"
    );
    assert!(!second.spin_once(Duration::from_millis(1)).unwrap());
}

fn a_refused_node_leaves_nothing_behind() {
    for (name, mut executor) in executors() {
        let taken = Node::builder("taken").domain_id(90).build().unwrap();
        let mut other = SingleThreadedExecutor::new();
        other.add_node(&taken).unwrap();
        executor.add_node(&taken).unwrap_err();
        let node = node();
        let topic = format!("executor_losses_refused_{}", name.len());
        let (heard, count) = counter();
        node.create_subscription_with_callback::<Point>(&topic, Qos::default(), move |_| {
            count.fetch_add(1, Relaxed);
        })
        .unwrap();
        executor.add_node(&node).unwrap();
        assert!(!executor.spin_once(Duration::from_millis(1)).unwrap());
        let mut publisher = node.create_publisher::<Point>(&topic, Qos::default()).unwrap();
        assert!(publisher.wait_for_subscriptions(1, PATIENCE).unwrap());
        assert!(!executor.spin_once(Duration::from_millis(1)).unwrap());
        publish(&mut publisher, 1);
        executor.spin_until(Duration::from_secs(5), &mut || heard.load(Relaxed) == 1).unwrap();
        assert_eq!(heard.load(Relaxed), 1, "{name}");
    }
}

fn simulated_time_that_is_ahead_starves_no_timer() {
    for (name, mut executor) in unhurried() {
        let (node, clock) = (node(), Clock::manual(Duration::from_secs(1_800_000_000)));
        let _busy = node.create_timer_with_callback(Duration::from_nanos(1), |_| ()).unwrap();
        let (ticked, ticks) = counter();
        let timer = Timer::new(&clock, Duration::from_secs(1)).unwrap();
        node.add_callback(timer, move |_, _| {
            ticks.fetch_add(1, Relaxed);
        });
        executor.add_node(&node).unwrap();
        clock.set(clock.now() + Duration::from_secs(1));
        let is_ticked = executor.spin_until(Duration::from_secs(5), &mut || ticked.load(Relaxed) == 1).unwrap();
        assert!(is_ticked, "{name}");
    }
}

fn nothing_is_lost_while_callbacks_come_and_go_and_spins_end() {
    for (name, mut executor) in executors() {
        let node = node();
        let (mut publishers, mut heard) = (Vec::new(), Vec::new());
        for number in 0..4 {
            let topic = format!("executor_losses_stress_{}_{number}", name.len());
            let kind = [CallbackGroupType::Reentrant, CallbackGroupType::MutuallyExclusive][number % 2];
            let (seen, newest) = counter();
            let subscription = node.create_subscription::<Point>(&topic, Qos::default()).unwrap();
            let group = node.create_callback_group(kind);
            group.add_callback(subscription, move |_, point| newest.store(point.x as usize, Release));
            let mut publisher = node.create_publisher::<Point>(&topic, Qos::default()).unwrap();
            publisher.wait_for_subscriptions(1, PATIENCE).unwrap();
            publishers.push(publisher);
            heard.push(seen);
        }
        executor.add_node(&node).unwrap();
        let (canceler, is_over) = (executor.handle(), AtomicBool::new(false));
        std::thread::scope(|scope| {
            let spinner = scope.spawn(|| {
                while !is_over.load(Acquire) {
                    executor.spin().unwrap();
                }
            });
            let (node, canceler) = (&node, &canceler);
            scope.spawn(move || {
                while !spinner.is_finished() {
                    let timer = Timer::new(&Clock::steady(), Duration::from_micros(50)).unwrap();
                    let handle = node.add_callback(timer, |_, _| ());
                    canceler.cancel();
                    std::thread::yield_now();
                    handle.remove();
                }
            });
            let lost = (1..200).find(|&number| {
                publishers.iter_mut().for_each(|publisher| publish(publisher, number));
                let give_up = Instant::now() + Duration::from_secs(10);
                let is_missed = || heard.iter().any(|seen| seen.load(Acquire) < number);
                while is_missed() && Instant::now() < give_up {
                    std::thread::yield_now();
                }
                is_missed()
            });
            is_over.store(true, Release);
            assert_eq!(lost, None, "{name}");
        });
    }
}
