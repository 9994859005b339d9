//! The recorder's background threads. They compress chunks, write them to the file, and sync the file to the disk.
//!
//! Chunks are written in the order of the calls of `send`, regardless of the thread that compressed them. The writing
//! of a chunk is tried once: while the disk is full, chunks are dropped and their messages are counted.

use super::{
    packers::Packers,
    storing::{self, Stored},
};
use crate::write::{BagWriter, Chunk, Compression, Packed, Route};
use gantry::Bell;
use gantry_command::{Context, Result, say, spawn};
use std::{
    fs::File,
    io,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering::SeqCst},
        mpsc::{self, TrySendError},
    },
    thread::JoinHandle,
    time::{Duration, Instant},
};

/// The time between two updates of `metadata.yaml`, and between two syncs of the file to the disk.
const PERIOD: Duration = Duration::from_secs(1);

/// The queue of the chunks that the background threads compress and write.
pub struct Disk {
    work: Option<mpsc::Sender<Work>>,
    packers: Option<Packers>,
    state: Arc<State>,
    writer: JoinHandle<Result<()>>,
}

#[derive(Debug, Default)]
struct State {
    queued_chunks: AtomicU64,
    queued_bytes: AtomicU64,
    /// The length of the current file in bytes, and of the memory in which its chunks are copied.
    file_bytes: AtomicU64,
    buffer_bytes: AtomicU64,
}

enum Work {
    Chunk(Chunk),
    /// A chunk that a thread compresses: its length in bytes, the number of its messages by channel, and the channel
    /// that will receive the result.
    Packing(u64, Vec<(u16, u64)>, mpsc::Receiver<io::Result<Packed>>),
    /// The current file has to be completed.
    EndFile,
}

impl Disk {
    /// Starts the threads. After each chunk, the writing thread wakes the recorder through `bell`.
    ///
    /// # Errors
    /// An error of the operating system: a thread cannot be started.
    pub fn start(bag: BagWriter, (compression, threads): (Compression, usize), bell: Bell) -> Result<Disk> {
        let state = Arc::new(State::default());
        let packers = match compression {
            Compression::None => None,
            _ => Some(Packers::start(compression, threads)?),
        };
        let (work, queue) = mpsc::channel();
        let (of_writer, (storing, storing_thread)) = (state.clone(), storing::start()?);
        let unstored = Vec::new();
        let writer = Writer { bag, state: of_writer, storing, storing_thread, unstored, bell, failure: None };
        let writer = spawn("bag-writer", move || writer.run(&queue))?;
        Ok(Disk { work: Some(work), packers, state, writer })
    }

    /// Queues a chunk.
    pub fn send(&self, chunk: Chunk) {
        let bytes = chunk.bytes();
        self.state.queued_chunks.fetch_add(1, SeqCst);
        self.state.queued_bytes.fetch_add(bytes, SeqCst);
        let work = match &self.packers {
            None => Work::Chunk(chunk),
            Some(packers) => {
                let counts = chunk.channels().map(|of| (of.channel.id, of.entries.len() as u64)).collect();
                Work::Packing(bytes, counts, packers.pack(chunk))
            }
        };
        self.do_work(work);
    }

    /// Completes the current file after all queued chunks.
    pub fn end_file(&self) {
        self.state.queued_chunks.fetch_add(1, SeqCst);
        self.do_work(Work::EndFile);
    }

    fn do_work(&self, work: Work) {
        if let Some(sender) = &self.work {
            // An error means that the thread panicked; `end` returns the panic as an error.
            let _ = sender.send(work);
        }
    }

    /// Whether all queued chunks are written.
    #[must_use]
    pub fn is_idle(&self) -> bool {
        self.queued_chunks() == 0
    }

    /// The number of queued chunks.
    #[must_use]
    pub fn queued_chunks(&self) -> u64 {
        self.state.queued_chunks.load(SeqCst)
    }

    /// The total size of the queued chunks, in bytes.
    #[must_use]
    pub fn queued_bytes(&self) -> u64 {
        self.state.queued_bytes.load(SeqCst)
    }

    /// The memory of the queued chunks and of their copies, in bytes.
    #[must_use]
    pub fn memory_bytes(&self) -> u64 {
        self.queued_bytes() + self.state.buffer_bytes.load(SeqCst)
    }

    /// The length of the current file, in bytes.
    #[must_use]
    pub fn file_bytes(&self) -> u64 {
        self.state.file_bytes.load(SeqCst)
    }

    /// Writes the queued chunks, and then completes the bag.
    ///
    /// # Errors
    /// The last file cannot be completed.
    pub fn end(mut self) -> Result<()> {
        drop((self.work.take(), self.packers.take()));
        self.writer.join().unwrap_or_else(|_| Err("the thread that writes panicked".to_owned().into()))
    }
}

struct Writer {
    bag: BagWriter,
    state: Arc<State>,
    storing: mpsc::SyncSender<Stored>,
    storing_thread: JoinHandle<()>,
    /// Completed files that the storing thread has not received yet.
    unstored: Vec<File>,
    bell: Bell,
    /// The error because of which chunks are dropped now; `None` while chunks are written normally.
    failure: Option<String>,
}

impl Writer {
    fn run(mut self, queue: &mpsc::Receiver<Work>) -> Result<()> {
        let mut due = Instant::now() + PERIOD;
        loop {
            match queue.recv_timeout(due.saturating_duration_since(Instant::now())) {
                Ok(work) => self.work(work),
                Err(mpsc::RecvTimeoutError::Timeout) => {}
                Err(mpsc::RecvTimeoutError::Disconnected) => break,
            }
            if Instant::now() >= due {
                self.update();
                due = Instant::now() + PERIOD;
            }
        }
        // The storing thread also syncs these files. It ends before `finish` writes the last metadata.yaml, so it
        // cannot overwrite that file with an older version.
        self.unstored.drain(..).for_each(|file| _ = self.storing.send(Stored::File(file)));
        drop(self.storing);
        let _ = self.storing_thread.join(); // the thread prints its errors itself
        self.bag.finish()
    }

    fn work(&mut self, work: Work) {
        let (bytes, packed) = match work {
            Work::EndFile => {
                match self.bag.end_file() {
                    Ok(finished) => self.store(finished),
                    Err(error) => say(error),
                }
                self.done(0);
                return;
            }
            Work::Chunk(chunk) => (chunk.bytes(), Compression::None.pack(chunk)),
            Work::Packing(bytes, counts, packed) => {
                let panicked = |_| Err(io::Error::other("a thread that compresses panicked"));
                let packed = packed.recv().unwrap_or_else(panicked);
                (bytes, packed.inspect_err(|_| self.bag.count_unwritten(&counts)))
            }
        };
        let packed = packed.context(|| "a chunk cannot be compressed".to_owned());
        let route = self.route();
        let written = packed.and_then(|packed| self.bag.write(&packed, route));
        match written {
            Ok(written) => {
                if self.failure.take().is_some() {
                    say("the bag is written again");
                }
                self.store(written.finished);
            }
            Err(error) => {
                let sentence = error.to_string();
                if self.failure.as_ref() != Some(&sentence) {
                    say(format_args!("{sentence}; until this ends, messages are dropped and counted"));
                    self.failure = Some(sentence);
                }
            }
        }
        self.done(bytes);
    }

    /// The route of the current chunk. While another chunk waits for its compression or for the disk, the page cache
    /// takes the chunks, because the disk may be too slow at present.
    fn route(&self) -> Route {
        match self.state.queued_chunks.load(SeqCst) {
            0..=1 => Route::Direct,
            _ => Route::PageCache,
        }
    }

    fn done(&self, bytes: u64) {
        let (file_bytes, buffer_bytes) = self.bag.file().map_or((0, 0), |file| (file.bytes(), file.buffer_bytes()));
        self.state.file_bytes.store(file_bytes, SeqCst);
        self.state.buffer_bytes.store(buffer_bytes, SeqCst);
        self.state.queued_bytes.fetch_sub(bytes, SeqCst);
        self.state.queued_chunks.fetch_sub(1, SeqCst); // before the bell, because the woken recorder reads this count
        self.bell.ring();
    }

    fn update(&mut self) {
        let path = self.bag.file().map(|file| file.path().display().to_string()).unwrap_or_default();
        if !self.bag.has_file() {
            say(format_args!("{path} was removed, with its messages; the next file takes the later ones"));
        }
        // The next call tries again if the storing thread is busy.
        if let Some(metadata) = self.bag.update() {
            let text = metadata.metadata.to_yaml();
            if self.storing.try_send(Stored::Metadata(metadata)).is_ok() {
                self.bag.note_metadata(text);
            }
        }
        self.store(None);
        // Regular syncs limit the loss after a power failure to the last seconds. If the storing thread is busy, the
        // next call tries again.
        if self.unstored.is_empty()
            && let Some(handle) = self.bag.file().and_then(|file| file.handle().ok())
        {
            let _ = self.storing.try_send(Stored::File(handle));
        }
    }

    /// Passes a completed file to the storing thread. If the queue of the thread is full, a later call tries again.
    fn store(&mut self, finished: Option<File>) {
        self.unstored.extend(finished);
        while let Some(file) = self.unstored.pop() {
            if let Err(TrySendError::Full(Stored::File(file))) = self.storing.try_send(Stored::File(file)) {
                self.unstored.push(file);
                return;
            }
        }
    }
}
