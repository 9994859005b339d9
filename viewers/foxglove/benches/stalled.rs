//! Measures how viewers affect a publisher of 1080p images at 60 Hz. The publish calls are timed in turn without a
//! viewer, with a viewer that reads everything, and with a viewer that reads nothing. The bench also prints the CPU
//! time of the server.
//!
//! `cargo bench --bench stalled -- [--seconds N] [--rounds N]`

#![expect(clippy::unwrap_used, reason = "a benchmark that cannot go on may panic")]

use gantry::{Node, Qos, TypeDescription};
use serde_json::json;
use std::{
    fs,
    io::{BufRead, BufReader, Read},
    net::TcpStream,
    process::{Child, Command, Stdio},
    thread,
    time::{Duration, Instant},
};
use tungstenite::{Message, client::IntoClientRequest, http::HeaderValue};

const DOMAIN: u32 = 202;
const IMAGE_BYTES: usize = 1920 * 1080 * 3;
const PERIOD: Duration = Duration::from_nanos(1_000_000_000 / 60);

#[derive(Clone, Copy, Debug)]
enum Viewer {
    None,
    Reads,
    Stalls,
}

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let number = |name: &str, default: u64| {
        let at = arguments.iter().position(|argument| argument == name);
        at.map_or(default, |at| arguments[at + 1].parse().unwrap())
    };
    let (seconds, rounds) = (number("--seconds", 20), number("--rounds", 3));
    for round in 0..rounds {
        for index in 0..3 {
            let viewer = [Viewer::None, Viewer::Reads, Viewer::Stalls][((round + index) % 3) as usize];
            eprintln!("round {round}, viewer {viewer:?}: {}", measure(viewer, Duration::from_secs(seconds)));
        }
    }
}

fn start_server() -> (Child, u16) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_gantry-foxglove"));
    command.args(["--domain-id", &DOMAIN.to_string(), "--port", "0"]);
    let mut server = command.stderr(Stdio::piped()).spawn().unwrap();
    let mut lines = BufReader::new(server.stderr.take().unwrap());
    let mut line = String::new();
    lines.read_line(&mut line).unwrap();
    let port = line.split("127.0.0.1:").nth(1).unwrap().split(';').next().unwrap().parse().unwrap();
    thread::spawn(move || lines.lines().for_each(drop));
    (server, port)
}

/// Connects a viewer that subscribes to the image. Returns the viewer's socket, from which this function reads no
/// image.
fn subscribe(port: u16) -> TcpStream {
    let mut request = format!("ws://127.0.0.1:{port}").into_client_request().unwrap();
    request.headers_mut().insert("sec-websocket-protocol", HeaderValue::from_static("foxglove.sdk.v1"));
    let stream = TcpStream::connect(("127.0.0.1", port)).unwrap();
    let (mut socket, _) = tungstenite::client(request, stream.try_clone().unwrap()).unwrap();
    loop {
        let Message::Text(text) = socket.read().unwrap() else { continue };
        let message: serde_json::Value = serde_json::from_str(&text).unwrap();
        let channels = message["channels"].as_array().into_iter().flatten();
        if let Some(image) = channels.into_iter().find(|channel| channel["topic"] == "/image") {
            let subscription = json!({ "id": 1, "channelId": image["id"] });
            let request = json!({ "op": "subscribe", "subscriptions": [subscription] });
            socket.send(Message::Text(request.to_string().into())).unwrap();
            return stream;
        }
    }
}

fn measure(viewer: Viewer, time: Duration) -> String {
    let node = Node::builder("camera").domain_id(DOMAIN).build().unwrap();
    let of_type = TypeDescription {
        name: "test_msgs/msg/Bytes".into(),
        payload_bytes: IMAGE_BYTES,
        ..TypeDescription::default()
    };
    let mut images = node.create_generic_publisher("/image", of_type, Qos::sensor_data()).unwrap();
    let (mut server, port) = start_server();
    let socket = match viewer {
        Viewer::None => None,
        _ => Some(subscribe(port)),
    };
    if let Some(socket) = &socket {
        assert!(images.wait_for_subscriptions(1, Duration::from_secs(30)).unwrap());
        if let Viewer::Reads = viewer {
            let mut socket = socket.try_clone().unwrap();
            thread::spawn(move || {
                let mut bytes = vec![0; 1 << 20];
                while socket.read(&mut bytes).is_ok_and(|count| count > 0) {}
            });
        }
    }
    let cpu = || {
        let tasks = fs::read_dir(format!("/proc/{}/task", server.id())).unwrap();
        let of_task = |task: fs::DirEntry| fs::read_to_string(task.path().join("schedstat")).unwrap_or_default();
        let texts = tasks.map(|task| of_task(task.unwrap()));
        texts.filter_map(|text| text.split_whitespace().next()?.parse::<f64>().ok()).sum::<f64>() / 1e9
    };
    let (before, begin) = (cpu(), Instant::now());
    let (mut times, mut due) = (Vec::new(), Instant::now());
    while begin.elapsed() < time {
        let start = Instant::now();
        let mut loan = images.loan(IMAGE_BYTES).unwrap();
        let loaned = start.elapsed();
        loan.bytes_mut().iter_mut().step_by(4096).for_each(|byte| *byte = byte.wrapping_add(1));
        let start = Instant::now();
        images.publish(loan).unwrap();
        times.push((loaned + start.elapsed()).as_secs_f64() * 1e6);
        due += PERIOD;
        thread::sleep(due.saturating_duration_since(Instant::now()));
    }
    let used = (cpu() - before) / begin.elapsed().as_secs_f64() * 100.0;
    let memory_mb = images.memory_bytes() as f64 / 1e6;
    server.kill().unwrap();
    server.wait().unwrap();
    times.sort_by(f64::total_cmp);
    let at = |quantile: f64| times[((times.len() - 1) as f64 * quantile) as usize];
    let (p50, p99, p999, max) = (at(0.5), at(0.99), at(0.999), at(1.0));
    format!(
        "loan and publish, n {}: p50 {p50:.1}, p99 {p99:.1}, p99.9 {p999:.1}, max {max:.1} µs; the publisher has {memory_mb:.0} \
         MB; the server {used:.1} % of a core",
        times.len()
    )
}
