//! Tests of `record --snapshot`: each request writes a file with the messages before and after the request.

use crate::support::*;
use gantry::Qos;
use gantry_msgs::std_srvs::srv::{Trigger, Trigger_Request};
use rustix::process::{Signal, kill_process};
use std::{collections::BTreeMap, fs};

tests!(
    a_request_writes_what_came_before_it,
    a_signal_writes_what_comes_after_it_too,
    the_memory_is_bounded_and_the_shorter_time_is_said,
);

fn a_request_writes_what_came_before_it() {
    let directory = directory();
    let bag = directory.path().join("bag");
    let arguments = ["record", "--all", "--snapshot", "--before", "3600", "-o", text(&bag)];
    let mut recorder = start(&mut command(70, &arguments));
    recorder.error_with("recording into memory, at most 268 MB");
    let node = node_in(70, "talker");
    let mut client = node.create_client::<Trigger>("/gantry_bag/snapshot").unwrap();
    assert!(client.wait_for_service(PATIENCE).unwrap());
    let mut camera = Talker::new(&node, "/camera", Qos::default().keep_last(100));
    camera.wait();
    for (number, count) in [(0, 10), (1, 5)] {
        (0..count).for_each(|_| camera.publish(50_000));
        let response = client.call_copy(&Trigger_Request::default(), PATIENCE).unwrap();
        assert!(response.success(), "{}", response.message());
        recorder.error_with("the snapshot is complete");
        eventually("the file", || files(&bag).len() == number + 1);
    }
    (0..3).for_each(|_| camera.publish(50_000)); // no request follows, so these are not written
    recorder.interrupt();
    let [first, second] = &files(&bag)[..] else { panic!("{:?}", files(&bag)) };
    assert_eq!(numbers(first), BTreeMap::from([("/camera".into(), (0..10).collect())]));
    assert_eq!(numbers(second), BTreeMap::from([("/camera".into(), (10..15).collect())]));
    let metadata = fs::read_to_string(bag.join("metadata.yaml")).unwrap();
    assert!(metadata.contains("message_count: 15"), "{metadata}");
}

fn a_signal_writes_what_comes_after_it_too() {
    let directory = directory();
    let bag = directory.path().join("bag");
    let arguments = ["record", "--all", "--snapshot", "--before", "3600", "--after", "3600", "-o", text(&bag)];
    let mut recorder = start(&mut command(71, &arguments));
    recorder.error_with("recording into memory");
    let node = node_in(71, "talker");
    let mut camera = Talker::new(&node, "/camera", Qos::default().keep_last(100));
    camera.wait();
    (0..4).for_each(|_| camera.publish(100));
    kill_process(recorder.peer.pid(), Signal::USR1).unwrap();
    recorder.error_with("a snapshot is written");
    (0..4).for_each(|_| camera.publish(100));
    recorder.interrupt();
    assert_eq!(numbers(&files(&bag)[0]), BTreeMap::from([("/camera".into(), (0..8).collect())]));
}

fn the_memory_is_bounded_and_the_shorter_time_is_said() {
    let directory = directory();
    let bag = directory.path().join("bag");
    let arguments = ["record", "--all", "--snapshot", "--before", "3600", "--max-cache-size", "10M", "-o", text(&bag)];
    let mut recorder = start(&mut command(72, &arguments));
    recorder.error_with("recording into memory, at most 10 MB");
    let node = node_in(72, "talker");
    let mut camera = Talker::new(&node, "/camera", Qos::default().keep_last(100));
    camera.wait();
    (0..60).for_each(|_| camera.publish(500_000));
    let said = recorder.error_with("are not enough for 3600 s");
    assert!(said.contains("10 MB are not enough") && said.contains("set --max-cache-size higher"), "{said}");
    kill_process(recorder.peer.pid(), Signal::USR1).unwrap();
    recorder.error_with("the snapshot is complete");
    recorder.interrupt();
    let numbers = numbers(&files(&bag)[0]).remove("/camera").unwrap();
    // The file has the newest 10 MiB, in complete chunks, up to the last published message.
    assert!((12..=21).contains(&numbers.len()) && numbers.last() == Some(&59), "{numbers:?}");
    assert!(numbers.windows(2).all(|pair| pair[1] == pair[0] + 1), "{numbers:?}");
}
