//! The reader records of a connection, which contain the pins of held samples.

use super::{Connection, Uncommon};
use crate::{
    error::{Error, Result},
    protocol::{
        layout::{READER_EXTENSION, ReaderRecord},
        reader::free_pin,
        shared::InRegion,
        sleep::Side,
        sync::{AtomicU64, Ordering::Relaxed},
    },
    subscribe::owned_record::{OrphanCell, OwnedRecord, places::Places},
};
use std::sync::Arc;

/// The number of additional reader records from which on more than one record is added at a time. A connection with
/// this number of additional records gets two more at once, a connection with twice the number gets three.
const EXTENSIONS_PER_NEW_ONE: usize = 4;

/// A free pin, and the orphan cell of the pin's record.
pub(super) type FreePin = (InRegion<AtomicU64>, &'static OrphanCell);

impl Connection {
    /// Returns an error if the limit of held samples is reached. A copied (inline) sample has no pin and does not
    /// count, because it occupies no memory of its publisher.
    #[inline]
    pub(super) fn check_held(&self, places: &Places) -> Result<(), Box<Error>> {
        let limit = places.max_held_samples;
        if limit == usize::MAX {
            return Ok(());
        }
        let extensions = self.extensions().iter().map(|owned| &**owned.record());
        let records = std::iter::once(self.reader.record()).chain(extensions);
        // Relaxed loads: a sample that another thread drops meanwhile may still count.
        let pins = records.flat_map(|record| record.pins.iter().map(|pin| pin.load(Relaxed)));
        if pins.filter(|&pin| pin != 0).count() < limit {
            return Ok(());
        }
        Err(Error::TooManyHeld { topic: places.description.topic.clone(), limit }.into())
    }

    /// Finds a free pin of the first record, the usual case.
    #[inline(always)]
    pub(super) fn first_free_pin(&self) -> Option<FreePin> {
        Some((pin_of(self.reader.record(), free_pin(self.reader.record())?), self.cell))
    }

    /// Finds a free pin. Adds reader records if all pins are in use; if there are many pins, also if nearly all are in
    /// use.
    #[inline]
    pub(super) fn free_pin(&mut self, places: &Places) -> Result<FreePin, Box<Error>> {
        match self.first_free_pin().or_else(|| self.free_pin_of_extension()) {
            Some(free) => Ok(free),
            None => self.add_records(places),
        }
    }

    /// Finds a free pin in the additional records; `None` if the search finds that too few are free.
    fn free_pin_of_extension(&mut self) -> Option<FreePin> {
        let Uncommon { extensions, search, .. } = self.uncommon.as_deref_mut()?;
        let pin_of = |index: usize| extensions.get(index).and_then(pin_of_extension);
        pin_of(search.find(extensions.len(), |index| pin_of(index).is_some())?)
    }

    /// Adds a reader record. Adds several if the connection has many already, because each addition wakes the
    /// publishers of the topic. The order is the same as in a join: first the records, then the generation, then a pin.
    #[cold]
    fn add_records(&mut self, places: &Places) -> Result<FreePin, Box<Error>> {
        let (domain, key) = (&places.memory.domain, self.mapping.key);
        let before = self.extensions().len();
        for added in 0..1 + before / EXTENSIONS_PER_NEW_ONE {
            let record = match domain.process.take_record(&domain.directory, key, READER_EXTENSION, 0) {
                Ok(record) => record,
                Err(_) if added > 0 => break,
                // There may still be a free pin, because the search ends early if it finds few free pins.
                Err(error) => return self.extensions().iter().find_map(pin_of_extension).ok_or(error.into()),
            };
            let owned = OwnedRecord::new(places.memory.clone(), self.mapping.clone(), record, self.record.endpoint);
            self.uncommon_mut().extensions.push(owned);
        }
        domain.process.count_taken();
        domain.board.topic_changed(domain.topic(&places.description.topic), Side::Readers);
        let added = &self.extensions()[before];
        Ok((pin_of(added.record(), 0), added.cell))
    }
}

#[inline]
fn pin_of_extension(owned: &Arc<OwnedRecord>) -> Option<FreePin> {
    Some((pin_of(owned.record(), free_pin(owned.record())?), owned.cell))
}

#[inline(always)]
fn pin_of(record: &ReaderRecord, index: usize) -> InRegion<AtomicU64> {
    // SAFETY: the connection keeps the record and its process file; a sample whose pin is set keeps both (O1).
    unsafe { InRegion::new(&record.pins[index]) }
}
