//! A device: a line that may disappear, for example when its adapter is unplugged. It is opened again when it is back.

use super::stream::Stream;
use crate::{agent::Port, lock::lock};
use std::{
    io,
    sync::{Arc, Condvar, Mutex, PoisonError},
    time::Duration,
};

/// The period at which the thread tries to open a missing device again.
const RETRY: Duration = Duration::from_millis(250);

/// The function that opens a device again.
pub type Open = Box<dyn Fn() -> io::Result<Stream> + Send>;

/// A device, open or gone.
pub struct Device {
    state: Mutex<State>,
    ending: Condvar,
}

struct State {
    /// The open line.
    stream: Option<Arc<Stream>>,
    is_ending: bool,
}

impl Device {
    pub fn new(stream: Stream) -> Self {
        Self { state: Mutex::new(State { stream: Some(stream.into()), is_ending: false }), ending: Condvar::new() }
    }

    /// Calls `run` with the line until `run` returns without an error. After an error, the device is opened again with
    /// `open`, if `open` is given. The error and the reopening are logged through the port.
    pub fn run(&self, port: &Port, open: Option<&Open>, mut run: impl FnMut(&Stream) -> io::Result<()>) {
        let mut current = lock(&self.state).stream.clone();
        while let Some(stream) = current.take() {
            let Err(error) = run(&stream) else { return };
            port.failed(&error);
            lock(&self.state).stream = None;
            drop(stream); // closed first, because a device may allow only one open descriptor
            current = open.and_then(|open| self.reopen(open));
            if current.is_some() {
                port.restored();
            }
        }
    }

    /// Waits until the device can be opened again. Returns `None` when the transport ends.
    fn reopen(&self, open: &Open) -> Option<Arc<Stream>> {
        let mut state = lock(&self.state);
        while !state.is_ending {
            // The pause comes before the attempt. Otherwise a device that opens and fails at once would keep the thread
            // and the log busy.
            state = self.ending.wait_timeout(state, RETRY).unwrap_or_else(PoisonError::into_inner).0;
            if !state.is_ending
                && let Ok(stream) = open()
            {
                state.stream = Some(stream.into());
                return state.stream.clone();
            }
        }
        None
    }

    /// Sends all of the bytes or none. Does not block.
    pub fn send(&self, bytes: &[u8]) -> io::Result<()> {
        let stream = lock(&self.state).stream.clone();
        stream.ok_or(io::ErrorKind::NotConnected)?.send(bytes)
    }

    /// Whether the line has accepted all bytes that were sent. For a missing device, the result is `true`, and the next
    /// `send` fails.
    pub fn has_room(&self) -> bool {
        lock(&self.state).stream.as_ref().is_none_or(|stream| stream.has_room())
    }

    /// Ends [`Self::run`].
    pub fn end(&self) {
        let stream = {
            let mut state = lock(&self.state);
            state.is_ending = true;
            state.stream.take()
        };
        if let Some(stream) = stream {
            stream.end();
        }
        self.ending.notify_all();
    }
}
