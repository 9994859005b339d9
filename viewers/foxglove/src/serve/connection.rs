//! The reading side of a viewer's connection: the handshake, the viewer's messages, and the closing handshake.

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

/// The longest duration of the handshake, and also the longest wait at the end for the last answers to be written.
const PATIENCE: Duration = Duration::from_secs(10);
/// The largest message that a viewer may send.
const MAX_MESSAGE_BYTES: usize = 64 << 20;
/// The origins of web pages that may connect: Foxglove's pages, and pages of this host. Programs other than
/// browsers send no origin.
const ORIGINS: [&str; 5] =
    ["https://app.foxglove.dev", "https://studio.foxglove.dev", "http://localhost", "http://127.0.0.1", "file://"];

/// A viewer's socket for the WebSocket library: the library reads from the socket, but its writes go into the outbox,
/// so that they do not interrupt a frame that the writer thread is sending.
struct Duplex {
    stream: TcpStream,
    viewer: Arc<Viewer>,
    /// The time by which the handshake must end; `None` after the handshake.
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

/// Performs the handshake, and reads the viewer's messages until the connection ends.
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
            viewer.finish(PATIENCE); // until the viewer has the reason
        }
    }
}

/// Chooses the subprotocol. Refuses an origin that is not allowed, and a client without a known subprotocol.
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

/// Whether a web page of this origin may connect. Without this check, any page in the user's browser could command the
/// robot.
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

/// Reads messages until the connection ends. Returns `true` after a closing handshake: the close frame of the server is
/// then in the outbox.
fn read_messages(hub: &Arc<Hub>, viewer: &Arc<Viewer>, socket: &mut WebSocket<Duplex>) -> bool {
    loop {
        let done = match socket.read() {
            Ok(Message::Text(text)) => request(&text).and_then(|request| hub.answer(viewer, request)),
            Ok(Message::Binary(bytes)) => binary(&bytes).and_then(|message| hub.take(viewer, message)),
            Ok(_) => Ok(()), // the library answers pings, and answers a close frame in its next call
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
