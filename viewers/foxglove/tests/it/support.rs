//! A running server for tests, and a viewer that parses the server's messages with Foxglove's SDK.

use foxglove::ws_protocol::server::ServerMessage;
use gantry::{GenericPublisher, Node, Qos, TypeDescription};
pub use rustix::process::Signal;
use rustix::process::{Pid, kill_process};
use serde_json::{Value, json};
use std::{
    collections::VecDeque,
    io::{BufRead, BufReader, Read},
    net::TcpStream,
    process::{Child, ChildStderr, Command, Stdio},
    time::Duration,
};
pub use test_support::{PATIENCE, eventually, ignore, tests};
use tungstenite::{
    Message, WebSocket,
    client::IntoClientRequest,
    http::HeaderValue,
    protocol::{CloseFrame, frame::coding::CloseCode},
};

pub struct Server {
    child: Child,
    pub port: u16,
    lines: BufReader<ChildStderr>,
}

impl Server {
    /// Starts the server on a free port. Its standard output can be read only after it has ended.
    pub fn start(domain_id: u32, arguments: &[&str]) -> Server {
        let mut command = Command::new(env!("CARGO_BIN_EXE_gantry-foxglove"));
        command.args(["--domain-id", &domain_id.to_string(), "--port", "0"]).args(arguments);
        let mut child = command.stderr(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let lines = BufReader::new(child.stderr.take().unwrap());
        let mut server = Server { child, port: 0, lines };
        let line = server.line_with("is served on ws://127.0.0.1:");
        let port = line.split("127.0.0.1:").nth(1).unwrap().split(';').next().unwrap();
        server.port = port.parse().unwrap();
        server
    }

    /// Waits for the next line of the server's standard error that contains `part`.
    #[track_caller]
    pub fn line_with(&mut self, part: &str) -> String {
        loop {
            let mut line = String::new();
            assert!(self.lines.read_line(&mut line).unwrap() > 0, "no line with {part:?}");
            if line.contains(part) {
                return line;
            }
        }
    }

    /// Sends the server a signal.
    pub fn signal(&self, signal: Signal) {
        kill_process(Pid::from_child(&self.child), signal).unwrap();
    }

    /// Ends the server with SIGINT, and returns its standard output.
    pub fn interrupt(self) -> String {
        self.signal(Signal::INT);
        self.output()
    }

    /// Waits for the end of the server, and returns its standard output.
    pub fn output(mut self) -> String {
        let mut output = String::new();
        self.child.stdout.take().unwrap().read_to_string(&mut output).unwrap();
        assert!(self.child.wait().unwrap().success());
        output
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

pub struct Viewer {
    socket: WebSocket<TcpStream>,
    /// Messages that arrived while the test waited for another message.
    passed: VecDeque<Message>,
}

/// Connects to the server, as a web page of this origin would. If the server refuses, the error is the server's reason.
pub fn connect(port: u16, subprotocol: &'static str, origin: Option<&'static str>) -> Result<Viewer, String> {
    let mut request = format!("ws://127.0.0.1:{port}").into_client_request().unwrap();
    request.headers_mut().insert("sec-websocket-protocol", HeaderValue::from_static(subprotocol));
    if let Some(origin) = origin {
        request.headers_mut().insert("origin", HeaderValue::from_static(origin));
    }
    let stream = TcpStream::connect(("127.0.0.1", port)).unwrap();
    stream.set_read_timeout(Some(PATIENCE)).unwrap();
    match tungstenite::client(request, stream) {
        Ok((socket, _)) => Ok(Viewer { socket, passed: VecDeque::new() }),
        Err(tungstenite::HandshakeError::Failure(tungstenite::Error::Http(response))) => {
            Err(String::from_utf8(response.into_body().unwrap_or_default()).unwrap())
        }
        Err(error) => Err(error.to_string()), // for example if the server closed the socket
    }
}

impl Viewer {
    pub fn new(server: &Server) -> Viewer {
        connect(server.port, "foxglove.sdk.v1", None).unwrap()
    }

    pub fn send(&mut self, request: Value) {
        self.socket.send(Message::Text(request.to_string().into())).unwrap();
    }

    pub fn send_binary(&mut self, bytes: Vec<u8>) {
        self.socket.send(Message::Binary(bytes.into())).unwrap();
    }

    /// Reads until the connection ends, and returns the code of the server's close frame. The library answers this
    /// frame.
    #[track_caller]
    pub fn read_to_end(&mut self) -> Option<u16> {
        let mut code = None;
        loop {
            match self.socket.read() {
                Ok(Message::Close(frame)) => code = frame.map(|frame| frame.code.into()),
                Ok(message) => self.passed.push_back(message),
                Err(tungstenite::Error::ConnectionClosed) => return code,
                Err(error) => panic!("the connection ends without a handshake: {error}"),
            }
        }
    }

    /// Begins the closing handshake.
    pub fn close(&mut self) {
        let normal = CloseFrame { code: CloseCode::Normal, reason: "".into() };
        self.socket.close(Some(normal)).unwrap();
    }

    /// Whether a message for which `is_it` returns `true` arrived while the test waited for another message.
    pub fn has_passed(&self, is_it: impl Fn(&ServerMessage<'_>) -> bool) -> bool {
        self.passed.iter().any(|message| is_it(&read(message)))
    }

    /// Waits for the first message for which `pick` returns a value. Other messages are kept for later calls.
    #[track_caller]
    pub fn expect<R>(&mut self, what: &str, pick: impl Fn(&ServerMessage<'_>) -> Option<R>) -> R {
        self.find(what, false, pick)
    }

    #[track_caller]
    fn find<R>(&mut self, what: &str, is_kept: bool, pick: impl Fn(&ServerMessage<'_>) -> Option<R>) -> R {
        let found = self.passed.iter().enumerate().find_map(|(index, message)| Some((index, pick(&read(message))?)));
        if let Some((index, answer)) = found {
            if !is_kept {
                self.passed.remove(index);
            }
            return answer;
        }
        loop {
            let message = self.socket.read().unwrap_or_else(|error| panic!("no {what}: {error}"));
            if matches!(message, Message::Ping(_) | Message::Pong(_)) {
                continue;
            }
            let answer = pick(&read(&message));
            if answer.is_none() || is_kept {
                self.passed.push_back(message);
            }
            if let Some(answer) = answer {
                return answer;
            }
        }
    }

    /// Waits for the channel of a topic, and returns its id, type and schema. The message is kept, because it may also
    /// announce other channels.
    #[track_caller]
    pub fn channel(&mut self, topic: &str) -> (u64, String, String) {
        self.find(&format!("channel of {topic}"), true, |message| {
            let ServerMessage::Advertise(advertise) = message else { return None };
            let channel = advertise.channels.iter().find(|channel| channel.topic == topic)?;
            assert_eq!((&*channel.encoding, channel.schema_encoding.as_deref()), ("cdr", Some("ros2msg")));
            Some((channel.id, channel.schema_name.to_string(), channel.schema.to_string()))
        })
    }

    /// Subscribes to a topic.
    #[track_caller]
    pub fn subscribe(&mut self, id: u32, topic: &str) -> u64 {
        let (channel_id, ..) = self.channel(topic);
        self.send(json!({ "op": "subscribe", "subscriptions": [{ "id": id, "channelId": channel_id }] }));
        self.wait_for_server();
        channel_id
    }

    /// Waits until the server has carried out all earlier requests of this viewer: it answers a request for a channel
    /// that does not exist.
    #[track_caller]
    pub fn wait_for_server(&mut self) {
        const ABSENT: u32 = u32::MAX;
        self.send(json!({ "op": "subscribe", "subscriptions": [{ "id": ABSENT, "channelId": ABSENT }] }));
        let refusal = format!("there is no channel {ABSENT}");
        self.expect("answer", |message| match message {
            ServerMessage::Status(status) if status.message == refusal => Some(()),
            _ => None,
        });
    }

    /// Waits for the next message of a subscription, and returns its time and its bytes.
    #[track_caller]
    pub fn message(&mut self, id: u32) -> (u64, Vec<u8>) {
        self.expect("message", |message| match message {
            ServerMessage::MessageData(data) if data.subscription_id == id => Some((data.log_time, data.data.to_vec())),
            _ => None,
        })
    }

    /// Waits for the next status, and returns its sentence.
    #[track_caller]
    pub fn status(&mut self) -> String {
        self.expect("status", |message| match message {
            ServerMessage::Status(status) => Some(status.message.clone()),
            _ => None,
        })
    }
}

fn read(message: &Message) -> ServerMessage<'_> {
    let read = match message {
        Message::Text(text) => ServerMessage::parse_json(text),
        Message::Binary(bytes) => ServerMessage::parse_binary(bytes),
        other => panic!("{other:?}"),
    };
    read.unwrap_or_else(|error| panic!("the SDK does not read {message:?}: {error}"))
}

pub fn node_in(domain_id: u32, name: &str) -> Node {
    Node::builder(name).domain_id(domain_id).build().unwrap()
}

/// Makes a message type with a number and a sequence of bytes.
pub fn bytes_type() -> TypeDescription {
    TypeDescription {
        name: "viewer_test/msg/Bytes".into(),
        definition: "uint64 number\nuint8[] data\n".into(),
        payload_bytes: usize::MAX,
        ..TypeDescription::default()
    }
}

/// Makes a message of [`bytes_type`] with this number and a sequence of this length.
pub fn bytes_message(number: u64, length: usize) -> Vec<u8> {
    let mut message = number.to_le_bytes().to_vec();
    message.extend((length as u32).to_le_bytes());
    message.extend((0..length).map(|index| (index as u64 ^ number) as u8));
    message
}

/// Puts the encapsulation header before a message, as in files and on networks.
pub fn cdr(body: &[u8]) -> Vec<u8> {
    [&gantry::ENCAPSULATION[..], body].concat()
}

pub fn publisher(node: &Node, topic: &str, qos: Qos) -> GenericPublisher {
    node.create_generic_publisher(topic, bytes_type(), qos).unwrap()
}

/// Waits until the topic has this number of subscriptions.
#[track_caller]
pub fn wait_for(publisher: &mut GenericPublisher, subscriptions: usize) {
    eventually("the server subscribes or unsubscribes", || {
        std::thread::sleep(Duration::from_millis(1)); // gives the server time to run
        publisher.subscription_count().unwrap() == subscriptions
    });
}
