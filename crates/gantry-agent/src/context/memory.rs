//! The shared memory that clients use through their data writers, requesters and repliers, and its limits: for
//! each client, and for all clients together.

use crate::config::Limits;
use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering::*},
};

/// The memory that each client may always use, in bytes.
const ASSURED_BYTES: usize = 1 << 20;

/// The sizes of the shared memory that the writers of one client use, and the writers of all clients, in bytes.
#[derive(Clone, Default)]
pub struct Memory {
    of_client: Arc<AtomicUsize>,
    of_all: Arc<AtomicUsize>,
}

/// The shared memory of one data writer, requester or replier. It counts in the sums until this value is dropped.
pub struct WriterMemory {
    memory: Memory,
    bytes: usize,
}

impl Memory {
    /// Creates the memory of another client.
    pub fn for_another(&self) -> Self {
        Self { of_client: Arc::default(), of_all: self.of_all.clone() }
    }

    /// Checks that the client may use more memory.
    ///
    /// # Errors
    /// A sentence with the limit that was reached.
    pub fn check(&self, limits: &Limits) -> Result<(), String> {
        // Relaxed: only the sum matters; each concurrent writer of another client may exceed the limit by one message.
        let (of_client, of_all) = (self.of_client.load(Relaxed), self.of_all.load(Relaxed));
        if of_client >= limits.writer_bytes {
            return Err(format!(
                "what the client writes uses {of_client} bytes, and may use {}; delete a data writer, requester or replier, give it a shorter \
                 history, or raise --max-memory",
                limits.writer_bytes
            ));
        }
        if of_all >= limits.all_writer_bytes && of_client >= ASSURED_BYTES {
            return Err(format!(
                "what all clients write uses {of_all} bytes, and may use {}; raise --max-memory",
                limits.all_writer_bytes
            ));
        }
        Ok(())
    }

    /// Counts a new writer of `bytes` bytes.
    pub fn count(&self, bytes: usize) -> WriterMemory {
        let mut writer = WriterMemory { memory: self.clone(), bytes: 0 };
        writer.set(bytes);
        writer
    }
}

impl WriterMemory {
    /// Sets the memory of the writer, which may also shrink: the memory for responses shrinks when a client leaves.
    pub fn set(&mut self, bytes: usize) {
        // Relaxed: only the sum matters. The sums wrap around, so a smaller size is added as a negative difference.
        let more = bytes.wrapping_sub(self.bytes);
        if more != 0 {
            self.memory.of_client.fetch_add(more, Relaxed);
            self.memory.of_all.fetch_add(more, Relaxed);
            self.bytes = bytes;
        }
    }

    pub fn check(&self, limits: &Limits) -> Result<(), String> {
        self.memory.check(limits)
    }
}

impl Drop for WriterMemory {
    fn drop(&mut self) {
        self.memory.of_client.fetch_sub(self.bytes, Relaxed);
        self.memory.of_all.fetch_sub(self.bytes, Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_are_for_a_client_and_for_all() {
        let limits = Limits { writer_bytes: 4 << 20, all_writer_bytes: 6 << 20, ..Limits::default() };
        let greedy = Memory::default();
        let [other, small] = [greedy.for_another(), greedy.for_another()];
        let mut writer = greedy.count(3 << 20);
        assert!(greedy.check(&limits).is_ok());
        writer.set(4 << 20);
        assert!(greedy.check(&limits).is_err() && other.check(&limits).is_ok());
        let _writer = other.count(2 << 20);
        assert!(other.check(&limits).is_err() && small.check(&limits).is_ok());
        writer.set(1 << 20);
        assert!(greedy.check(&limits).is_ok() && other.check(&limits).is_ok());
        drop(writer);
        assert!(greedy.check(&limits).is_ok() && other.check(&limits).is_ok());
    }
}
