//! A viewer: its socket, its outbox, its subscriptions.

mod wanted;

pub use wanted::Wanted;

use crate::{
    outbox::{Item, Outbox},
    protocol::message_start,
};
use std::{
    collections::BTreeMap,
    io::{self, IoSlice, Write},
    net::{Shutdown, TcpStream},
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering::Relaxed},
    },
    time::Duration,
};

/// The largest number of running calls and requests of one viewer.
const MAX_TASKS: usize = 32;

/// A guard for a running call or request of a viewer: the task counts until the guard is dropped.
#[derive(Debug)]
pub struct Task(Arc<Viewer>);

impl Drop for Task {
    fn drop(&mut self) {
        self.0.tasks.fetch_sub(1, Relaxed);
    }
}

/// A viewer, shared by its threads and the feeds.
#[derive(Debug)]
pub struct Viewer {
    /// The number of the viewer's connection.
    pub id: u64,
    /// The viewer's address and port.
    pub address: String,
    /// The answers and messages that wait for the viewer's socket.
    pub outbox: Outbox,
    stream: TcpStream,
    /// The channel of each subscription, by the number that the viewer gave to the subscription.
    pub subscriptions: Mutex<BTreeMap<u32, u32>>,
    /// The parameters whose changes the viewer wants.
    pub parameters: Mutex<Wanted>,
    /// Whether the viewer subscribes to the connection graph.
    pub wants_graph: AtomicBool,
    tasks: AtomicUsize,
    /// The number of messages that were written to the viewer's socket.
    pub sent: AtomicU64,
    /// The number of bytes in these messages.
    pub sent_bytes: AtomicU64,
}

impl Viewer {
    /// Makes a viewer without subscriptions.
    #[must_use]
    pub fn new(id: u64, address: String, stream: TcpStream, max_bytes: usize) -> Viewer {
        Viewer {
            id,
            address,
            outbox: Outbox::new(max_bytes),
            stream,
            subscriptions: Mutex::default(),
            parameters: Mutex::default(),
            wants_graph: AtomicBool::new(false),
            tasks: AtomicUsize::new(0),
            sent: AtomicU64::new(0),
            sent_bytes: AtomicU64::new(0),
        }
    }

    /// Begins a task, which counts until the returned guard is dropped. Returns `None` if the viewer has too many
    /// tasks.
    #[must_use]
    pub fn begin_task(self: &Arc<Self>) -> Option<Task> {
        let task = Task(self.clone());
        (self.tasks.fetch_add(1, Relaxed) < MAX_TASKS).then_some(task)
    }

    /// Writes the contents of the outbox to the socket, until the outbox is ended or closed or the viewer disconnects.
    pub fn write(&self) {
        while let Some(item) = self.outbox.next() {
            if self.write_item(&item).is_err() {
                break;
            }
        }
        // Only the writing side is shut down, because the viewer may still send its part of the closing handshake. If
        // the socket were closed, the kernel would answer with a reset, which discards bytes that the viewer has not
        // read yet.
        let _ = self.stream.shutdown(Shutdown::Write);
        self.outbox.close();
    }

    fn write_item(&self, item: &Item) -> io::Result<()> {
        match item {
            Item::Answer(bytes) => (&self.stream).write_all(bytes),
            Item::Message(message) => {
                let start = message_start(message.subscription_id, message.time_ns, message.cdr.len());
                write_parts(&self.stream, [&start, &message.cdr])?;
                self.sent.fetch_add(1, Relaxed);
                self.sent_bytes.fetch_add(message.cdr.len() as u64, Relaxed);
                Ok(())
            }
        }
    }

    /// Ignores later answers and messages, and waits until the waiting answers are written, for at most `patience`.
    pub fn finish(&self, patience: Duration) {
        self.outbox.end(None);
        self.outbox.wait_until_closed(patience);
    }

    /// Ends the connection at once.
    pub fn close(&self) {
        self.outbox.close();
        let _ = self.stream.shutdown(Shutdown::Both); // fails if the viewer has disconnected
    }
}

/// Writes both parts with `writev`, without copying them into one buffer.
fn write_parts(mut stream: &TcpStream, parts: [&[u8]; 2]) -> io::Result<()> {
    let mut slices = parts.map(IoSlice::new);
    let mut rest = &mut slices[..];
    while !rest.is_empty() {
        match stream.write_vectored(rest) {
            Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
            Ok(count) => IoSlice::advance_slices(&mut rest, count),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}
