//! The reader records of a connection: the pins of samples that are held.

use super::Connection;
use crate::{
    error::{Error, Result},
    protocol::{
        layout::{READER_EXTENSION, ReaderRecord},
        reader::{COPIED, free_pin},
        shared::InRegion,
        sleep::Side,
        sync::{AtomicU64, Ordering::Relaxed},
    },
    subscribe::owned_record::{OrphanCell, OwnedRecord, places::Places},
};
use std::sync::Arc;

/// A pin, and the cell of its record.
pub(super) type FreePin = (InRegion<AtomicU64>, &'static OrphanCell);

impl Connection {
    /// An error if as many samples are held as may be. One that was copied does not count: its publisher can use its memory again.
    #[inline]
    pub(super) fn check_held(&self, places: &Places) -> Result<(), Box<Error>> {
        let limit = places.max_held_samples;
        if limit == usize::MAX {
            return Ok(());
        }
        let extensions = self.extensions().iter().map(|owned| &**owned.record());
        let records = std::iter::once(self.reader.record()).chain(extensions);
        // Relaxed: a sample that is dropped on another thread meanwhile may count.
        let pins = records.flat_map(|record| record.pins.iter().map(|pin| pin.load(Relaxed)));
        if pins.filter(|&pin| !matches!(pin, 0 | COPIED)).count() < limit {
            return Ok(());
        }
        Err(Error::TooManyHeld { topic: places.description.topic.clone(), limit }.into())
    }

    /// A pin of the first record that is free, as a rule.
    #[inline(always)]
    pub(super) fn first_free_pin(&self) -> Option<FreePin> {
        Some((pin_of(self.reader.record(), free_pin(self.reader.record())?), self.cell))
    }

    /// A free pin; one more record if all are in use.
    #[inline]
    pub(super) fn free_pin(&mut self, places: &Places) -> Result<FreePin, Box<Error>> {
        let of_extension =
            |owned: &Arc<OwnedRecord>| Some((pin_of(owned.record(), free_pin(owned.record())?), owned.cell));
        match self.first_free_pin().or_else(|| self.extensions().iter().find_map(of_extension)) {
            Some(free) => Ok(free),
            None => self.add_record(places),
        }
    }

    /// Adds a record. Memory in which pins may appear is added like a join: the record, then the generation, then the pin.
    #[cold]
    fn add_record(&mut self, places: &Places) -> Result<FreePin, Box<Error>> {
        let domain = &places.memory.domain;
        let record = domain.process.take_record(&domain.directory, self.mapping.key, READER_EXTENSION, 0)?;
        let owned = OwnedRecord::new(places.memory.clone(), self.mapping.clone(), record);
        let pin = (pin_of(owned.record(), 0), owned.cell);
        self.uncommon_mut().extensions.push(owned);
        domain.board.topic_changed(domain.topic(&places.description.topic), Side::Readers);
        Ok(pin)
    }
}

#[inline(always)]
fn pin_of(record: &ReaderRecord, index: usize) -> InRegion<AtomicU64> {
    // SAFETY: the connection keeps the record, and its process file; a sample that sets the pin keeps both (O1).
    unsafe { InRegion::new(&record.pins[index]) }
}
