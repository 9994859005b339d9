//! Tests of clients in async tasks: the wait for a service, and one client that several tasks share.

use crate::{services::*, support::*};
use gantry::{Error, SharedClient};
use gantry_msgs::example_interfaces::srv::{AddTwoInts, AddTwoInts_Request};
use std::{
    pin::pin,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering::Relaxed},
    },
    task::{Context, Poll, Wake, Waker},
};

tests![
    a_task_waits_for_a_service,
    tasks_on_several_threads_share_a_client,
    the_tasks_of_a_client_are_woken_by_each_other_s_responses,
    a_dropped_call_of_a_shared_client_gives_up_its_request,
    each_task_of_a_shared_client_learns_that_the_server_is_gone,
    a_late_response_of_a_server_that_ended_keeps_no_task_busy,
    a_shared_client_forgets_the_tasks_of_dropped_futures,
];

fn shared(name: &str) -> SharedClient<AddTwoInts> {
    client::<AddTwoInts>(name).into_shared()
}

async fn sum(client: SharedClient<AddTwoInts>, a: i64) -> gantry::Result<i64> {
    Ok(client.call_copy_async(&AddTwoInts_Request { a, b: 1 }).await?.sum)
}

fn a_task_waits_for_a_service() {
    let mut client = node().create_client::<AddTwoInts>("/awaited_service").unwrap();
    assert!(pin!(client.wait_for_service_async()).poll(&mut Context::from_waker(Waker::noop())).is_pending());
    let shared = node().create_client::<AddTwoInts>("/awaited_service").unwrap().into_shared();
    let waiter = std::thread::spawn(move || {
        block_on(client.wait_for_service_async()).unwrap();
        block_on(shared.wait_for_service_async()).unwrap();
        (call_many(&mut client, 1, 3), block_on(sum(shared, 4)).unwrap())
    });
    let server = start_child("adder", "/awaited_service");
    assert_eq!(waiter.join().unwrap(), (3, 5));
    server.finish();
}

fn tasks_on_several_threads_share_a_client() {
    let server = start_child("adder", "/shared_client");
    let client = shared("/shared_client");
    let threads = [0, 1000, 2000].map(|first| {
        let client = client.clone();
        std::thread::spawn(move || {
            (first..first + 300).filter(|&a| block_on(sum(client.clone(), a)).unwrap() == a + 1).count()
        })
    });
    assert_eq!(threads.map(|thread| thread.join().unwrap()), [300; 3]);
    assert_eq!(client.pending_requests(), 0);
    server.finish();
}

fn the_tasks_of_a_client_are_woken_by_each_other_s_responses() {
    let mut service = node().create_service::<AddTwoInts>("each_other").unwrap();
    let client = shared("each_other");
    let waiting = [1, 2, 3].map(|a| {
        let (client, (sender, sent)) = (client.clone(), std::sync::mpsc::channel());
        let thread = std::thread::spawn(move || {
            let mut call = pin!(sum(client, a));
            assert!(call.as_mut().poll(&mut Context::from_waker(Waker::noop())).is_pending());
            sender.send(()).unwrap();
            block_on(call).unwrap()
        });
        sent.recv().unwrap();
        thread
    });
    let mut requests: Vec<_> = (0..3).map(|_| take(&mut service)).collect();
    requests.reverse();
    requests.iter().for_each(|request| add(&mut service, request));
    assert_eq!(waiting.map(|thread| thread.join().unwrap()), [2, 3, 4]);
}

fn a_dropped_call_of_a_shared_client_gives_up_its_request() {
    let mut service = node().create_service::<AddTwoInts>("shared_dropped").unwrap();
    let client = shared("shared_dropped");
    {
        let mut call = pin!(sum(client.clone(), 1));
        assert!(call.as_mut().poll(&mut Context::from_waker(Waker::noop())).is_pending());
        assert_eq!(client.pending_requests(), 1);
    }
    assert_eq!(client.pending_requests(), 0);
    let mut call = pin!(sum(client.clone(), 2));
    assert!(call.as_mut().poll(&mut Context::from_waker(Waker::noop())).is_pending());
    for _ in 0..2 {
        let request = take(&mut service);
        add(&mut service, &request);
    }
    assert!(matches!(call.poll(&mut Context::from_waker(Waker::noop())), Poll::Ready(Ok(3))));
}

fn each_task_of_a_shared_client_learns_that_the_server_is_gone() {
    let mut server = start_child("silent-server", "/shared_killed");
    let client = shared("/shared_killed");
    let threads = [1, 2].map(|a| {
        let client = client.clone();
        std::thread::spawn(move || block_on(sum(client, a)))
    });
    eventually("both asked", || client.pending_requests() == 2);
    assert_eq!(server.line(), "taken");
    server.kill();
    for thread in threads {
        let error = thread.join().unwrap().unwrap_err();
        assert!(matches!(error, Error::ServerGone { .. }), "{error}");
    }
}

/// A task that records whether it was woken.
#[derive(Default)]
struct WokenTask(AtomicBool);

impl Wake for WokenTask {
    fn wake(self: Arc<Self>) {
        self.0.store(true, Relaxed);
    }
}

fn a_late_response_of_a_server_that_ended_keeps_no_task_busy() {
    let mut client = client_of_an_ended_server("late_for_a_task");
    let task = Arc::new(WokenTask::default());
    let waker = Waker::from(task.clone());
    let mut found = pin!(client.wait_for_service_async());
    let is_quiet = (0..1000).any(|_| {
        task.0.store(false, Relaxed);
        assert!(found.as_mut().poll(&mut Context::from_waker(&waker)).is_pending());
        !task.0.load(Relaxed)
    });
    assert!(is_quiet, "the task is woken whenever it is polled");
}

fn a_shared_client_forgets_the_tasks_of_dropped_futures() {
    let task = Arc::new(WokenTask::default());
    let waker = Waker::from(task.clone());
    let (_service, client) = (node().create_service::<AddTwoInts>("forgets").unwrap(), shared("forgets"));
    let serverless = node().create_client::<AddTwoInts>("forgets_too").unwrap().into_shared();
    assert!(pin!(sum(client.clone(), 1)).poll(&mut Context::from_waker(&waker)).is_pending());
    assert!(pin!(serverless.wait_for_service_async()).poll(&mut Context::from_waker(&waker)).is_pending());
    drop(waker);
    assert_eq!(Arc::strong_count(&task), 1, "the clients keep no waker");
}
