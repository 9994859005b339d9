//! A viewer: its socket, its outbox, and what it subscribes to.

use crate::{
    outbox::{Item, Outbox},
    protocol::message_start,
};
use std::{
    collections::{BTreeMap, BTreeSet},
    io::{self, IoSlice, Write},
    net::{Shutdown, TcpStream},
    sync::{
        Mutex,
        atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering::Relaxed},
    },
};

/// The most calls and requests of one viewer that are under way.
const MAX_TASKS: usize = 32;

/// A viewer; its threads and the feeds share it.
#[derive(Debug)]
pub struct Viewer {
    /// Its number.
    pub id: u64,
    /// Address and port.
    pub address: String,
    /// What waits for its socket.
    pub outbox: Outbox,
    stream: TcpStream,
    /// The server's channels by the viewer's numbers of its subscriptions.
    pub subscriptions: Mutex<BTreeMap<u32, u32>>,
    /// The parameters whose changes it wants.
    pub parameters: Mutex<BTreeSet<String>>,
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

    /// Counts a task that begins; `false` if the viewer has too many.
    #[must_use]
    pub fn begin_task(&self) -> bool {
        let is_one_too_many = self.tasks.fetch_add(1, Relaxed) >= MAX_TASKS;
        if is_one_too_many {
            self.end_task();
        }
        !is_one_too_many
    }

    /// Counts a task that is done.
    pub fn end_task(&self) {
        self.tasks.fetch_sub(1, Relaxed);
    }

    /// Writes what is in the outbox until it is closed or the viewer is gone.
    pub fn write(&self) {
        while let Some(item) = self.outbox.next() {
            let written = match &item {
                Item::Answer(bytes) => (&self.stream).write_all(bytes),
                Item::Message(message) => {
                    let start = message_start(message.subscription_id, message.time_ns, message.cdr.len());
                    self.sent.fetch_add(1, Relaxed);
                    self.sent_bytes.fetch_add(message.cdr.len() as u64, Relaxed);
                    write_parts(&self.stream, [&start, &message.cdr])
                }
            };
            if written.is_err() {
                break;
            }
        }
        self.close();
    }

    /// Ends the connection.
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
