//! Tests of a link that stalls: the number of pinned samples is limited, each dropped sample is counted, and the newest
//! samples arrive.

use crate::support::*;
use gantry::{Qos, TypeDescription};
use std::{
    io::{Read, Write},
    net::{Shutdown, TcpListener, TcpStream},
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering::SeqCst},
    },
    thread,
};
use test_support::{PATIENCE, eventually};
use zenoh::Wait;

const MESSAGE_BYTES: usize = 4 << 20;
const DEPTH: u32 = 3;
const MESSAGES: u64 = 40;

/// Starts a TCP proxy to a port. The proxy forwards no bytes while `is_stalled` is true.
fn proxy(to: u16, is_stalled: &Arc<AtomicBool>) -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let is_stalled = is_stalled.clone();
    thread::spawn(move || {
        for near in listener.incoming().flatten() {
            let Ok(far) = TcpStream::connect(("127.0.0.1", to)) else { continue };
            let ways = [(near.try_clone().unwrap(), far.try_clone().unwrap()), (far, near)];
            for (from, to) in ways {
                let is_stalled = is_stalled.clone();
                thread::spawn(move || pass_on(from, to, &is_stalled));
            }
        }
    });
    port
}

fn pass_on(mut from: TcpStream, mut to: TcpStream, is_stalled: &AtomicBool) {
    let mut buffer = vec![0; 64 << 10];
    loop {
        while is_stalled.load(SeqCst) {
            thread::yield_now();
        }
        match from.read(&mut buffer) {
            Ok(length @ 1..) if to.write_all(&buffer[..length]).is_ok() => {}
            _ => {
                let _ = to.shutdown(Shutdown::Both);
                return;
            }
        }
    }
}

#[test]
fn a_stalled_link_holds_few_pins_and_each_drop_is_counted() {
    in_host("slow_link::a_stalled_link_holds_few_pins_and_each_drop_is_counted", |_| {
        let (port, is_stalled) = (free_port(), Arc::new(AtomicBool::new(false)));
        let _bridge = start(&first_host(), port, &[], &[]);
        let talker = node("camera");
        let image = TypeDescription {
            name: "demo/msg/Image".into(),
            hash: [7; 32],
            payload_bytes: MESSAGE_BYTES,
            ..Default::default()
        };
        let mut publisher = talker.create_generic_publisher("/image", image, Qos::default().keep_last(DEPTH)).unwrap();
        eventually("the bridge listens", || TcpStream::connect(("127.0.0.1", port)).is_ok());
        let raw = session(proxy(port, &is_stalled));
        let name = format!("demo::msg::dds_::Image_/RIHS01_{}", "07".repeat(32));
        let (sender, numbers) = std::sync::mpsc::channel();
        let subscriber = raw.declare_subscriber(format!("0/image/{name}")).callback(move |sample| {
            let attachment = sample.attachment().unwrap().to_bytes();
            let _ = sender.send((u64::from_le_bytes(attachment[..8].try_into().unwrap()), sample.payload().len()));
        });
        let _subscriber = subscriber.wait().unwrap();
        let text = token(&raw, 1, "MS", "viewer", &format!("%image/{name}/::,3:,:,:,,"));
        let _token = raw.liveliness().declare_token(text).wait().unwrap();
        assert!(publisher.wait_for_subscriptions(1, PATIENCE).unwrap());

        is_stalled.store(true, SeqCst);
        for number in 1..=MESSAGES {
            let message = publisher.loan(MESSAGE_BYTES).unwrap();
            assert_eq!(publisher.publish(message).unwrap(), number, "the publisher never waits for the link");
            thread::yield_now();
        }
        let before = status("drops", |status| topic(status, "/image", "out").counts.overwritten > 0);
        assert!(topic(&before, "/image", "out").waiting <= DEPTH as usize);
        is_stalled.store(false, SeqCst);
        let mut found = Vec::new();
        while found.last() != Some(&MESSAGES) {
            let (number, length) = numbers.recv_timeout(PATIENCE).expect("the newest sample arrives");
            assert_eq!(length, MESSAGE_BYTES + 4);
            found.push(number);
        }
        assert!(found.is_sorted() && found.len() < MESSAGES as usize, "{found:?}");
        let newest: Vec<u64> = (MESSAGES - u64::from(DEPTH) + 1..=MESSAGES).collect();
        assert!(found.ends_with(&newest), "{found:?}");
        // No sample is missing in the sum: none left the publisher's history before the bridge took it.
        let counts = status("all are accounted for", |status| {
            let counts = topic(status, "/image", "out").counts;
            counts.carried == found.len() as u64 && counts.carried + counts.overwritten == MESSAGES
        });
        assert_eq!(topic(&counts, "/image", "out").waiting, 0);
    });
}
