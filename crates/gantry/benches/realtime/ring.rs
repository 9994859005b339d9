//! The carrier that uses `rtrb`, a plain ring between two threads. Messages are written and read in the ring's
//! memory.
//!
//! The ring has no wait. A reader that sleeps sets a flag and parks, and the writer unparks it, as in a real program.

use crate::{
    Result,
    message::Message,
    queue::{PATIENCE, Receives, Sends, full, read},
};
use rtrb::{Consumer, Producer, RingBuffer};
use std::{
    sync::{
        Arc, OnceLock,
        atomic::{AtomicBool, Ordering::*, fence},
    },
    thread::{self, Thread},
};

/// The reader's thread and flag, with which the writer wakes the reader.
#[derive(Default)]
struct Sleeper {
    sleeps: AtomicBool,
    thread: OnceLock<Thread>,
}

/// Writes to the ring.
pub struct Writer {
    producer: Producer<Message>,
    /// The reader to wake; `None` if the reader polls.
    sleeper: Option<Arc<Sleeper>>,
}

/// Reads from the ring.
pub struct Reader {
    consumer: Consumer<Message>,
    sleeper: Arc<Sleeper>,
}

/// Makes the writer and the reader of a ring.
pub fn pair(depth: usize, reader_sleeps: bool) -> (Writer, Reader) {
    let ((producer, consumer), sleeper) = (RingBuffer::new(depth), Arc::<Sleeper>::default());
    (Writer { producer, sleeper: reader_sleeps.then(|| sleeper.clone()) }, Reader { consumer, sleeper })
}

impl Sends for Writer {
    #[inline(always)]
    fn send(&mut self, number: u64, sent: u64) -> Result<()> {
        let mut chunk = self.producer.write_chunk_uninit(1).map_err(|_| full())?;
        if let Some(place) = chunk.as_mut_slices().0.first_mut() {
            place.write(Message::new(number, sent));
        }
        // SAFETY: the chunk has one message, so the message is in the first slice, and it was written.
        unsafe { chunk.commit(1) };
        if let Some(sleeper) = &self.sleeper {
            fence(SeqCst); // the message before the check: the reader sets its flag before it looks for messages
            if sleeper.sleeps.load(Relaxed) {
                sleeper.thread.get().into_iter().for_each(Thread::unpark);
            }
        }
        Ok(())
    }
}

impl Receives for Reader {
    #[inline(always)]
    fn take(&mut self) -> Result<Option<(u64, u64)>> {
        let Ok(chunk) = self.consumer.read_chunk(1) else { return Ok(None) };
        let message = chunk.as_slices().0.first().map(read).transpose();
        chunk.commit(1);
        message
    }

    fn wait(&mut self) -> Result<()> {
        self.sleeper.thread.get_or_init(thread::current);
        self.sleeper.sleeps.store(true, Relaxed);
        fence(SeqCst);
        if self.consumer.is_empty() {
            thread::park_timeout(PATIENCE);
        }
        self.sleeper.sleeps.store(false, Relaxed);
        Ok(())
    }
}
