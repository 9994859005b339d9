//! The slots of a session, and the memory in which fragments are assembled, both on the heap. They are allocated at
//! their first use, so a client that only logs in costs little.

use gantry_xrce::stream::{Record, Slots, Storage};

/// Slots on the heap.
#[derive(Debug)]
pub struct HeapSlots {
    count: usize,
    slot_bytes: usize,
    records: Box<[Record]>,
    bytes: Box<[u8]>,
}

impl HeapSlots {
    /// Makes `count` slots of `slot_bytes` bytes each.
    pub fn new(count: usize, slot_bytes: usize) -> Self {
        Self { count, slot_bytes, records: Box::default(), bytes: Box::default() }
    }
}

impl Storage for HeapSlots {
    fn slots(&mut self) -> Slots<'_> {
        if self.records.len() < self.count {
            self.records = vec![Record::EMPTY; self.count].into();
            self.bytes = vec![0; self.count * self.slot_bytes].into();
        }
        Slots::new(&mut self.records, &mut self.bytes)
    }
}

/// Bytes on the heap.
#[derive(Debug)]
pub struct HeapBytes {
    length: usize,
    bytes: Box<[u8]>,
}

impl HeapBytes {
    /// Makes a buffer of `length` bytes, which are allocated at their first use.
    pub fn new(length: usize) -> Self {
        Self { length, bytes: Box::default() }
    }
}

impl AsMut<[u8]> for HeapBytes {
    fn as_mut(&mut self) -> &mut [u8] {
        if self.bytes.len() < self.length {
            self.bytes = vec![0; self.length].into();
        }
        &mut self.bytes
    }
}
