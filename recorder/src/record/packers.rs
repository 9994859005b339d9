//! The threads that compress chunks.

use crate::{
    topics::lock,
    write::{Chunk, Compression, Packed},
};
use gantry_command::{Result, spawn};
use std::{
    io,
    sync::{Arc, Mutex, mpsc},
};

/// The queue of the threads. They end when it is dropped.
pub struct Packers(mpsc::Sender<(Chunk, mpsc::Sender<io::Result<Packed>>)>);

impl Packers {
    /// Starts the threads.
    ///
    /// # Errors
    /// A thread cannot be started.
    pub fn start(compression: Compression, threads: usize) -> Result<Packers> {
        let (sender, chunks) = mpsc::channel::<(Chunk, mpsc::Sender<io::Result<Packed>>)>();
        let chunks = Arc::new(Mutex::new(chunks));
        for number in 0..threads.max(1) {
            let chunks = chunks.clone();
            spawn(&format!("bag-pack-{number}"), move || {
                loop {
                    let next = lock(&chunks).recv();
                    let Ok((chunk, packed)) = next else { return };
                    let _ = packed.send(compression.pack(chunk)); // an error means that the recorder ends
                }
            })?;
        }
        Ok(Packers(sender))
    }

    /// Queues a chunk. Returns the channel that will receive the result.
    pub fn pack(&self, chunk: Chunk) -> mpsc::Receiver<io::Result<Packed>> {
        let (sender, packed) = mpsc::channel();
        let _ = self.0.send((chunk, sender)); // succeeds: the threads live as long as this sender
        packed
    }
}
