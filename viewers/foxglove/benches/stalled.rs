//! Measures how viewers affect a publisher of 1080p images at 60 Hz. The publish calls are timed in turn without a
//! viewer, with a viewer that reads everything, and with a viewer that reads nothing. The bench also measures the CPU
//! time of the server. The first images of each turn fill the queue of a viewer that reads nothing, and are not timed.
//!
//! `cargo bench --bench stalled -- [--seconds N] [--rounds N] [--server PROGRAM]`. With `--server`, a stalled viewer of
//! another build of the server is measured for comparison, instead of the viewer that reads.

#![expect(clippy::unwrap_used, reason = "a benchmark that cannot go on may panic")]

use gantry::{GenericPublisher, Node, Qos, TypeDescription};
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
/// The images before the first timed one. They fill the sockets and the queue of a viewer that reads nothing.
const FIRST_IMAGES: usize = 120;
const SERVER: &str = env!("CARGO_BIN_EXE_gantry-foxglove");

#[derive(Clone, Copy)]
enum Viewer {
    None,
    Reads,
    Stalls,
}

/// The figures of one turn: quantiles of the duration of loan and publish in microseconds, the CPU time of the server
/// in percent of a core, and the memory of the publisher.
struct Turn {
    p50: f64,
    p99: f64,
    p999: f64,
    max: f64,
    server_percent: f64,
    publisher_mb: f64,
}

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let value = |name: &str| {
        let at = arguments.iter().position(|argument| argument == name)?;
        Some(arguments[at + 1].clone())
    };
    let number = |name: &str, default: u64| value(name).map_or(default, |value| value.parse().unwrap());
    let (seconds, rounds) = (number("--seconds", 20), number("--rounds", 3));
    let compared = match value("--server") {
        Some(other) => ("with a stalled viewer of the other server", other, Viewer::Stalls, Vec::new()),
        None => ("with a viewer that reads", SERVER.to_owned(), Viewer::Reads, Vec::new()),
    };
    let mut rows = [
        ("without a viewer", SERVER.to_owned(), Viewer::None, Vec::new()),
        ("with a stalled viewer", SERVER.to_owned(), Viewer::Stalls, Vec::new()),
        compared,
    ];
    let count = rows.len();
    for round in 0..rounds as usize {
        for index in 0..count {
            let (what, server, viewer, turns) = &mut rows[(round + index) % count];
            let turn = measure(server, *viewer, Duration::from_secs(seconds));
            eprintln!("round {round}, {what}: {turn}");
            turns.push(turn);
        }
    }
    eprintln!(
        "Loan and publish of a 1080p image at 60 Hz, {rounds} rounds of {seconds} s each, medians of the rounds (and \
         their ranges):"
    );
    for (what, .., turns) in &rows {
        eprintln!("{what}: {}", summary(turns));
    }
}

impl std::fmt::Display for Turn {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Turn { p50, p99, p999, max, server_percent, publisher_mb } = self;
        write!(
            f,
            "p50 {p50:.1}, p99 {p99:.1}, p99.9 {p999:.1}, max {max:.1} µs; the publisher has {publisher_mb:.0} MB; the \
             server uses {server_percent:.2} % of a core"
        )
    }
}

/// The sentence about the turns of a row.
fn summary(turns: &[Turn]) -> String {
    let figure = |pick: fn(&Turn) -> f64, digits: usize| {
        let mut values: Vec<f64> = turns.iter().map(pick).collect();
        values.sort_by(f64::total_cmp);
        let (median, least, most) = (values[values.len() / 2], values[0], values[values.len() - 1]);
        format!("{median:.digits$} ({least:.digits$} to {most:.digits$})")
    };
    format!(
        "p50 {}, p99 {}, p99.9 {}, max {} µs; the server uses {} % of a core",
        figure(|turn| turn.p50, 1),
        figure(|turn| turn.p99, 1),
        figure(|turn| turn.p999, 1),
        figure(|turn| turn.max, 1),
        figure(|turn| turn.server_percent, 2),
    )
}

fn start_server(program: &str) -> (Child, u16) {
    let mut command = Command::new(program);
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

fn measure(program: &str, viewer: Viewer, time: Duration) -> Turn {
    let node = Node::builder("camera").domain_id(DOMAIN).build().unwrap();
    let of_type = TypeDescription {
        name: "test_msgs/msg/Bytes".into(),
        payload_bytes: IMAGE_BYTES,
        ..TypeDescription::default()
    };
    let mut images = node.create_generic_publisher("/image", of_type, Qos::sensor_data()).unwrap();
    let (mut server, port) = start_server(program);
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
    let mut due = Instant::now();
    (0..FIRST_IMAGES).for_each(|_| _ = publish(&mut images, &mut due));
    let (before, begin) = (cpu_seconds(&server), Instant::now());
    let mut times = Vec::new();
    while begin.elapsed() < time {
        times.push(publish(&mut images, &mut due));
    }
    let used = cpu_seconds(&server) - before;
    let server_percent = used / begin.elapsed().as_secs_f64() * 100.0;
    server.kill().unwrap();
    server.wait().unwrap();
    times.sort_by(f64::total_cmp);
    let at = |quantile: f64| times[((times.len() - 1) as f64 * quantile) as usize];
    let (p50, p99, p999, max) = (at(0.5), at(0.99), at(0.999), at(1.0));
    Turn { p50, p99, p999, max, server_percent, publisher_mb: images.memory_bytes() as f64 / 1e6 }
}

/// Publishes an image, and sleeps until the next one is due. Returns the duration of loan and publish in microseconds.
fn publish(images: &mut GenericPublisher, due: &mut Instant) -> f64 {
    let start = Instant::now();
    let mut loan = images.loan(IMAGE_BYTES).unwrap();
    let loaned = start.elapsed();
    loan.bytes_mut().iter_mut().step_by(4096).for_each(|byte| *byte = byte.wrapping_add(1));
    let start = Instant::now();
    images.publish(loan).unwrap();
    let duration = loaned + start.elapsed();
    *due += PERIOD;
    thread::sleep(due.saturating_duration_since(Instant::now()));
    duration.as_secs_f64() * 1e6
}

/// The CPU time of all threads of the server.
fn cpu_seconds(server: &Child) -> f64 {
    let tasks = fs::read_dir(format!("/proc/{}/task", server.id())).unwrap();
    let of_task = |task: fs::DirEntry| fs::read_to_string(task.path().join("schedstat")).unwrap_or_default();
    let texts = tasks.map(|task| of_task(task.unwrap()));
    texts.filter_map(|text| text.split_whitespace().next()?.parse::<f64>().ok()).sum::<f64>() / 1e9
}
