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

/// The most calls and requests of one viewer that are under way.
const MAX_TASKS: usize = 32;

/// A call or a request that is under way.
#[derive(Debug)]
pub struct Task(Arc<Viewer>);

impl Drop for Task {
    fn drop(&mut self) {
        self.0.tasks.fetch_sub(1, Relaxed);
    }
}

/// A viewer; its threads and the feeds share it.
#[derive(Debug)]
pub struct Viewer {
    /// Its number.
    pub id: u64,
    /// Address and port.
    pub address: String,
    /// The messages that wait for its socket.
    pub outbox: Outbox,
    stream: TcpStream,
    /// The server's channels by the viewer's numbers of its subscriptions.
    pub subscriptions: Mutex<BTreeMap<u32, u32>>,
    /// The parameters whose changes it wants.
    pub parameters: Mutex<Wanted>,
    /// Whether it wants the graph.
    pub wants_graph: AtomicBool,
    tasks: AtomicUsize,
    /// Messages that were written to its socket.
    pub sent: AtomicU64,
    /// Their bytes.
    pub sent_bytes: AtomicU64,
}

impl Viewer {
    /// A viewer that has not said anything yet.
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

    /// Begins a task, which is counted until the result is dropped; `None` if the viewer has too many.
    #[must_use]
    pub fn begin_task(self: &Arc<Self>) -> Option<Task> {
        let task = Task(self.clone());
        (self.tasks.fetch_add(1, Relaxed) < MAX_TASKS).then_some(task)
    }

    /// Writes the contents of the outbox until it is ended or closed, or the viewer is gone.
    pub fn write(&self) {
        while let Some(item) = self.outbox.next() {
            if self.write_item(&item).is_err() {
                break;
            }
        }
        // The viewer may still send its half of the closing handshake: a reset would take the last bytes from it.
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

    /// Waits until the answers that are in the outbox are written; nothing is added any more.
    pub fn finish(&self, patience: Duration) {
        self.outbox.end(None);
        self.outbox.wait_until_closed(patience);
    }

    /// Ends the connection at once.
    pub fn close(&self) {
        self.outbox.close();
        let _ = self.stream.shutdown(Shutdown::Both); // it may be gone
    }
}

/// Writes both parts, without putting them together.
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
