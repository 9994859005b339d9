//! The reader of a viewer's connection: it handles the handshake, the viewer's messages, and the closing handshake.

use super::Hub;
use crate::{
    protocol::{Level, SUBPROTOCOLS, binary, request, status},
    viewer::Viewer,
};
use gantry_command::say;
use std::{
    io::{self, Read, Write},
    net::TcpStream,
    sync::Arc,
    time::{Duration, Instant},
};
use tungstenite::{
    Error, Message, WebSocket, accept_hdr_with_config,
    handshake::server::{ErrorResponse, Request, Response},
    http::{HeaderValue, StatusCode},
    protocol::WebSocketConfig,
};

/// The longest duration of the handshake, and the time that a viewer has to read its last answers.
const PATIENCE: Duration = Duration::from_secs(10);
/// The longest message of a viewer.
const MAX_MESSAGE_BYTES: usize = 64 << 20;
/// The origins of web pages that may connect: Foxglove's pages, and pages of this host. Programs other than
/// browsers send no origin.
const ORIGINS: [&str; 5] =
    ["https://app.foxglove.dev", "https://studio.foxglove.dev", "http://localhost", "http://127.0.0.1", "file://"];

/// The two directions of a viewer's socket: the WebSocket library reads from the socket, and its writes go into the
/// outbox, where they stay between whole frames.
struct Duplex {
    stream: TcpStream,
    viewer: Arc<Viewer>,
    /// The end of the handshake.
    deadline: Option<Instant>,
}

impl Read for Duplex {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let Some(deadline) = self.deadline else { return self.stream.read(buffer) };
        let too_late = || io::Error::new(io::ErrorKind::TimedOut, format!("no handshake within {PATIENCE:?}"));
        let left = deadline.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Err(too_late());
        }
        self.stream.set_read_timeout(Some(left))?;
        self.stream.read(buffer).map_err(|error| match error.kind() {
            io::ErrorKind::WouldBlock => too_late(),
            _ => error,
        })
    }
}

impl Write for Duplex {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.viewer.outbox.answer(bytes.to_vec());
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Reads until the viewer is gone.
pub fn read(hub: &Arc<Hub>, viewer: &Arc<Viewer>, stream: TcpStream) {
    let config = WebSocketConfig::default()
        .max_message_size(Some(MAX_MESSAGE_BYTES))
        .max_frame_size(Some(MAX_MESSAGE_BYTES))
        .write_buffer_size(0);
    let duplex = Duplex { stream, viewer: viewer.clone(), deadline: Some(Instant::now() + PATIENCE) };
    #[expect(clippy::result_large_err, reason = "the library's callback returns it")]
    let choose = |request: &Request, response: Response| choose(hub, request, response);
    match accept_hdr_with_config(duplex, choose, Some(config)) {
        Ok(mut socket) => {
            let duplex = socket.get_mut();
            duplex.deadline = None;
            let _ = duplex.stream.set_read_timeout(None);
            say(format_args!("viewer {} is connected", viewer.address));
            hub.add(viewer);
            if read_messages(hub, viewer, &mut socket) {
                viewer.finish(PATIENCE);
            }
        }
        Err(error) => {
            say(format_args!("viewer {} is refused: {error}", viewer.address));
            viewer.finish(PATIENCE); // the answer says why
        }
    }
}

/// Chooses the subprotocol, or refuses.
#[expect(clippy::result_large_err, reason = "the library's callback returns it")]
fn choose(hub: &Hub, request: &Request, mut response: Response) -> Result<Response, ErrorResponse> {
    let refuse = |sentence: String| {
        let mut refusal = ErrorResponse::new(Some(sentence));
        *refusal.status_mut() = StatusCode::FORBIDDEN;
        refusal
    };
    let header = |name: &str| {
        let values = request.headers().get_all(name).iter();
        values.filter_map(|value| value.to_str().ok().map(str::to_owned)).collect::<Vec<_>>().join(",")
    };
    let origin = header("origin");
    if !is_allowed(&origin, &hub.options().origins) {
        return Err(refuse(format!("the page {origin} may not connect; --origin {origin} allows it")));
    }
    let offered = header("sec-websocket-protocol");
    let offered: Vec<&str> = offered.split(',').map(str::trim).collect();
    let Some(chosen) = SUBPROTOCOLS.into_iter().find(|known| offered.contains(known)) else {
        return Err(refuse(format!("the server speaks {}", SUBPROTOCOLS.join(" and "))));
    };
    response.headers_mut().insert("sec-websocket-protocol", HeaderValue::from_static(chosen));
    Ok(response)
}

/// Whether a web page of this origin may connect. Without this check, any page in the user's browser could move
/// the robot.
fn is_allowed(origin: &str, more: &[String]) -> bool {
    let is_of = |allowed: &str| {
        origin
            .strip_prefix(allowed)
            .is_some_and(|rest| rest.is_empty() || rest.starts_with(':') && allowed != "file://")
    };
    origin.is_empty()
        || ORIGINS.into_iter().any(is_of)
        || more.iter().any(|allowed| allowed == origin || allowed == "*")
}

/// Reads messages until the connection ends; `true` after a closing handshake, whose answer is then in the outbox.
fn read_messages(hub: &Arc<Hub>, viewer: &Arc<Viewer>, socket: &mut WebSocket<Duplex>) -> bool {
    loop {
        let done = match socket.read() {
            Ok(Message::Text(text)) => request(&text).and_then(|request| hub.answer(viewer, request)),
            Ok(Message::Binary(bytes)) => binary(&bytes).and_then(|message| hub.take(viewer, message)),
            Ok(_) => Ok(()), // the library answers pings, and a close frame with the next call
            Err(Error::ConnectionClosed) => return true,
            Err(_) => return false,
        };
        if let Err(sentence) = done {
            viewer.outbox.answer(status(Level::Error, &sentence, None));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A viewer that sends its handshake byte by byte does not extend the deadline of the handshake.
    #[test]
    fn a_handshake_that_is_too_late_is_not_read() {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let mut client = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        client.write_all(b"GET").unwrap();
        let stream = listener.accept().unwrap().0;
        let viewer = Arc::new(Viewer::new(1, "client".into(), stream.try_clone().unwrap(), 1000));
        let mut duplex = Duplex { stream, viewer, deadline: Some(Instant::now() + PATIENCE) };
        let mut byte = [0];
        assert_eq!(duplex.read(&mut byte).unwrap(), 1);
        duplex.deadline = Some(Instant::now());
        let error = duplex.read(&mut byte).unwrap_err();
        assert_eq!((error.kind(), error.to_string().as_str()), (io::ErrorKind::TimedOut, "no handshake within 10s"));
    }

    #[test]
    fn pages_of_strangers_are_refused() {
        let more = ["https://viewer.example".to_owned()];
        for origin in ["", "https://app.foxglove.dev", "http://localhost:8080", "file://", "https://viewer.example"] {
            assert!(is_allowed(origin, &more), "{origin}");
        }
        for origin in ["https://app.foxglove.dev.evil.example", "http://localhostile", "null", "https://evil.example"] {
            assert!(!is_allowed(origin, &more), "{origin}");
        }
        assert!(is_allowed("https://evil.example", &["*".to_owned()]));
    }
}
