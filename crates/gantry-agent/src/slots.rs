//! Slots of a session on the heap.

use gantry_xrce::stream::{Record, Slots, Storage};

/// Slots on the heap.
#[derive(Debug)]
pub struct HeapSlots {
    records: Box<[Record]>,
    bytes: Box<[u8]>,
}

impl HeapSlots {
    /// `count` slots of `slot_bytes` each. The memory is touched only when it is used.
    pub fn new(count: usize, slot_bytes: usize) -> Self {
        Self { records: vec![Record::EMPTY; count].into(), bytes: vec![0; count * slot_bytes].into() }
    }
}

impl Storage for HeapSlots {
    fn slots(&mut self) -> Slots<'_> {
        Slots::new(&mut self.records, &mut self.bytes)
    }
}
