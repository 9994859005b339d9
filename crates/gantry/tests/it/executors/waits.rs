//! Tests of spins with an end: by a condition or a future that another thread completes, or when no callback is ready.

use super::*;
use std::{
    future::poll_fn,
    panic::{AssertUnwindSafe, catch_unwind, resume_unwind},
    sync::atomic::{AtomicBool, Ordering::*},
    task::{Poll, Waker},
};

behaviours! {
    with_a_far_end: [],
    alone: [
        a_condition_that_holds_at_the_deadline_is_noticed,
        a_condition_of_another_thread_is_noticed_at_once,
        a_future_of_another_thread_is_completed,
        a_response_completes_a_spin,
        spinning_all_runs_what_callbacks_cause,
        a_panic_in_a_spin_of_one_callback_is_passed_on,
    ],
}

fn a_condition_that_holds_at_the_deadline_is_noticed(case: &Case) {
    let (mut executor, node) = (case.executor(), node());
    executor.add_node(&node).unwrap();
    assert!(executor.spin_until(Duration::ZERO, &mut || true).unwrap());
    assert!(!executor.spin_until(Duration::ZERO, &mut || false).unwrap());
    assert_eq!(executor.spin_until_complete(std::future::ready(7), Duration::ZERO).unwrap(), Some(7));
    // The condition becomes true only at the deadline, so every earlier check fails.
    for timeout in [ms(1), ms(3)] {
        let deadline = Instant::now() + timeout;
        assert!(executor.spin_until(timeout, &mut || Instant::now() >= deadline).unwrap());
    }
}

fn a_condition_of_another_thread_is_noticed_at_once(case: &Case) {
    let (mut executor, node, holds) = (case.executor(), node(), AtomicBool::new(false));
    executor.add_node(&node).unwrap();
    let handle = executor.handle();
    let begin = Instant::now();
    std::thread::scope(|scope| {
        scope.spawn(|| {
            std::thread::sleep(ms(20)); // by then, the executor normally sleeps
            holds.store(true, SeqCst);
            handle.wake();
        });
        assert!(executor.spin_until(PATIENCE, &mut || holds.load(SeqCst)).unwrap());
    });
    assert!(begin.elapsed() < ms(900), "a slice of its sleep is longer");
}

fn a_future_of_another_thread_is_completed(case: &Case) {
    let (mut executor, node) = (case.executor(), node());
    executor.add_node(&node).unwrap();
    assert!(executor.spin_until_complete(std::future::pending::<()>(), ms(5)).unwrap().is_none());
    let place: Arc<Mutex<(Option<usize>, Option<Waker>)>> = Arc::default();
    for number in 0..50 {
        let (complete, mut polls) = (place.clone(), 0);
        let value = std::thread::scope(|scope| {
            scope.spawn(move || {
                let mut place = complete.lock().unwrap();
                place.0 = Some(number);
                place.1.take().into_iter().for_each(Waker::wake);
            });
            let future = poll_fn(|context| {
                polls += 1;
                let mut place = place.lock().unwrap();
                place.1 = Some(context.waker().clone());
                place.0.take().map_or(Poll::Pending, Poll::Ready)
            });
            executor.spin_until_complete(future, PATIENCE).unwrap()
        });
        assert_eq!(value, Some(number));
        assert!(polls <= 2, "it is polled when it was woken");
    }
    executor.handle().cancel();
    assert!(executor.spin_until_complete(std::future::pending::<()>(), PATIENCE).unwrap().is_none());
}

/// The executor that waits for the response also runs the server, as in ROS 2's tutorials.
fn a_response_completes_a_spin(case: &Case) {
    use gantry_msgs::example_interfaces::srv::AddTwoInts;
    let (mut executor, node) = (case.executor(), node());
    executor.add_node(&node).unwrap();
    let group = node.create_callback_group(CallbackGroupType::MutuallyExclusive);
    group
        .create_service_with_callback::<AddTwoInts>(&case.topic("add"), |service, request| {
            let mut response = service.loan_response(request.id()).unwrap();
            response.sum = request.a + request.b;
            service.send_response(request.id(), response).unwrap();
        })
        .unwrap();
    let mut client = node.create_client::<AddTwoInts>(&case.topic("add")).unwrap();
    assert!(client.wait_for_service(PATIENCE).unwrap());
    for number in 0..10 {
        let mut request = client.loan_request().unwrap();
        (request.a, request.b) = (number, 1);
        let response = executor.spin_until_complete(client.call_async(request), PATIENCE).unwrap().unwrap();
        assert_eq!(response.unwrap().sum, number + 1);
    }
}

fn spinning_all_runs_what_callbacks_cause(case: &Case) {
    let (mut executor, listener) = (case.executor(), Listener::new());
    executor.add_node(&listener.node).unwrap();
    let names = ["a", "b", "c"];
    let mut publishers =
        names.map(|name| Some(listener.node.create_publisher::<Point>(&case.topic(name), all()).unwrap()));
    // Each message causes a message on the next topic, whose callback was registered earlier.
    for (place, name) in names.into_iter().enumerate().rev() {
        let (sender, mut next) = (listener.sender.clone(), publishers.get_mut(place + 1).and_then(Option::take));
        listener
            .node
            .create_subscription_with_callback::<Point>(&case.topic(name), all(), move |point: Sample<Point>| {
                if let Some(next) = &mut next {
                    next.publish_copy(&point).unwrap();
                }
                sender.send((name, point.x as usize)).unwrap();
            })
            .unwrap();
    }
    let first = publishers[0].as_mut().unwrap();
    assert!(first.wait_for_subscriptions(1, PATIENCE).unwrap());
    assert_eq!(executor.spin_all(PATIENCE).unwrap(), 0);
    first.publish_copy(&Point { x: 1.0, y: 0.0 }).unwrap();
    assert_eq!(executor.spin_all(Duration::ZERO).unwrap(), 3);
    assert_eq!(listener.rest(), names.map(|name| (name, 1)));
    first.publish_copy(&Point { x: 2.0, y: 0.0 }).unwrap();
    assert_eq!(executor.spin_all(Duration::from_nanos(1)).unwrap(), 1);
    executor.handle().cancel();
    assert_eq!(executor.spin_all(PATIENCE).unwrap(), 0);
    assert_eq!(executor.spin_all(PATIENCE).unwrap(), 2);
}

fn a_panic_in_a_spin_of_one_callback_is_passed_on(case: &Case) {
    let (mut executor, node, (sender, told)) = (case.executor(), node(), value_channel());
    executor.add_node(&node).unwrap();
    let mut count = 0;
    node.create_timer_with_callback(ms(1), move |_| {
        count += 1;
        if count % 2 == 1 {
            resume_unwind(Box::new(count)); // a panic that is not printed
        }
        sender.send(count).unwrap();
    })
    .unwrap();
    for round in [1, 3, 5] {
        let panic = match round {
            1 => catch_unwind(AssertUnwindSafe(|| drop(executor.spin_once(PATIENCE)))),
            3 => catch_unwind(AssertUnwindSafe(|| while executor.spin_some(PATIENCE).unwrap() == 0 {})),
            _ => catch_unwind(AssertUnwindSafe(|| drop(executor.spin_until(PATIENCE, &mut || false)))),
        };
        assert_eq!(*panic.unwrap_err().downcast::<i32>().unwrap(), round);
        assert!(!executor.handle().is_spinning());
        assert!(executor.spin_once(PATIENCE).unwrap());
        assert_eq!(told.rest(), [round + 1]);
    }
}
