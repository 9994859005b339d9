//! The shared memory for the data that clients write by their data writers, requesters and repliers. It is limited for
//! each client, and for all clients together.

use crate::config::Limits;
use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering::*},
};

/// The size of the shared memory that each client may use even if the limit for all clients is reached, in bytes.
const ASSURED_BYTES: usize = 1 << 20;

/// Two sums of shared memory in bytes: the memory of one client's writers, and the memory of all clients' writers.
#[derive(Clone, Default)]
pub struct Memory {
    of_client: Arc<AtomicUsize>,
    of_all: Arc<AtomicUsize>,
}

/// The shared memory of one data writer, requester or replier. The sums include it until this value is dropped.
pub struct WriterMemory {
    memory: Memory,
    bytes: usize,
}

impl Memory {
    /// Makes the sums for another client.
    pub fn for_another(&self) -> Self {
        Self { of_client: Arc::default(), of_all: self.of_all.clone() }
    }

    /// Checks that the client may use more memory.
    ///
    /// # Errors
    /// A sentence that states the limit.
    pub fn check(&self, limits: &Limits) -> Result<(), String> {
        // Relaxed: only the sums are needed. Concurrent writers may each exceed the limit by one message.
        let (of_client, of_all) = (self.of_client.load(Relaxed), self.of_all.load(Relaxed));
        if of_client >= limits.writer_bytes {
            return Err(format!(
                "the data writers, requesters and repliers of the client use {of_client} bytes, and the limit for one \
                 client is {} bytes; delete one of these objects, use shorter histories, or raise --max-memory",
                limits.writer_bytes
            ));
        }
        if of_all >= limits.all_writer_bytes && of_client >= ASSURED_BYTES {
            return Err(format!(
                "the data writers, requesters and repliers of all clients use {of_all} bytes, and the limit is {} \
                 bytes; raise --max-memory",
                limits.all_writer_bytes
            ));
        }
        Ok(())
    }

    /// Adds a new writer of `bytes` bytes to the sums.
    pub fn count(&self, bytes: usize) -> WriterMemory {
        let mut writer = WriterMemory { memory: self.clone(), bytes: 0 };
        writer.set(bytes);
        writer
    }
}

impl WriterMemory {
    /// Changes the size of the writer's memory. The size may shrink: the memory for responses shrinks when a client
    /// leaves.
    pub fn set(&mut self, bytes: usize) {
        // Relaxed: only the sums are needed. They wrap around, so a negative difference is added as a large number.
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
