//! The reader records of a connection: the places of samples that are held.

use super::Connection;
use crate::{
    error::{Error, Result},
    protocol::{
        layout::READER_EXTENSION,
        reader::{COPIED, free_pin},
        sleep::Side,
        sync::Ordering::Relaxed,
    },
    subscribe::owned_record::{OwnedRecord, places::Place},
};
use std::{ptr::NonNull, sync::Arc};

impl Connection {
    /// An error if as many samples are held as may be. One that was copied does not count: its publisher can use its memory again.
    #[inline]
    pub(super) fn check_held(&self) -> Result<(), Box<Error>> {
        if self.max_held_samples == usize::MAX {
            return Ok(());
        }
        let pins = self.records.iter().flat_map(|owned| owned.record().pins.iter());
        // Relaxed: a sample that is dropped on another thread meanwhile may count.
        let held = pins.filter(|pin| !matches!(pin.load(Relaxed), 0 | COPIED)).count();
        if held < self.max_held_samples {
            return Ok(());
        }
        Err(Error::TooManyHeld { topic: self.publisher.topic.clone(), limit: self.max_held_samples }.into())
    }

    /// The place of a free pin; one more record if all are in use.
    #[inline]
    pub(super) fn free_place(&mut self) -> Result<NonNull<Place>, Box<Error>> {
        let free_place = |owned: &Arc<OwnedRecord>| Some(owned.place(free_pin(owned.record())?));
        match self.records.iter().find_map(free_place) {
            Some(place) => Ok(place),
            None => self.add_record(),
        }
    }

    /// Adds a record. Memory in which pins may appear is added like a join: the record, then the generation, then the pin.
    #[cold]
    fn add_record(&mut self) -> Result<NonNull<Place>, Box<Error>> {
        let record = self.domain.process.take_record(&self.domain.directory, self.mapping.key, READER_EXTENSION, 0)?;
        let owned = OwnedRecord::new(self.domain.clone(), self.mapping.clone(), record);
        owned.allocate_places(); // together with the record: the next takes need them
        let place = owned.place(0);
        self.records.push(owned);
        self.domain.board.topic_changed(self.topic, Side::Readers);
        Ok(place)
    }
}
