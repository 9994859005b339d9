//! What a publisher knows of its readers: their rows, and what those hold.
//!
//! Used by `publisher` alone. Invariant C1: after [`Readers::refresh`] returned without an error, `rows` holds every row that
//! was made for this publisher before `seen_generation`. If rows cannot be mapped, [`Readers::unmapped`] says why, and nothing
//! may be freed: an unseen pin would be a use after free.

use crate::{
    board::TopicIndex,
    error::Result,
    layout::{PINS_PER_ROW, ROW_ACTIVE, Row},
    participant::Participant,
    peer::PeerRow,
    shared::acquire,
};
use std::{
    collections::BTreeMap,
    sync::atomic::{Ordering::*, fence},
};

/// The rows of one publisher's readers.
pub(crate) struct Readers {
    topic: TopicIndex,
    /// The publisher's key, by which rows name it.
    key: u64,
    rows: Vec<PeerRow>,
    /// Generation of the topic that `rows` is true for.
    seen_generation: u64,
    unmapped: Option<String>,
    /// Scratch for the pins that are held, so that reclaiming does not allocate.
    held: Vec<u64>,
}

impl Readers {
    /// Nobody is known yet.
    pub(crate) fn new(topic: TopicIndex, key: u64) -> Readers {
        Readers { topic, key, rows: Vec::new(), seen_generation: 0, unmapped: None, held: Vec::new() }
    }

    /// A hint that readers came or went.
    #[inline]
    pub(crate) fn seems_changed(&self, participant: &Participant) -> bool {
        // Relaxed: where it matters, `refresh` looks again with acquire.
        participant.board.line(self.topic).generation.load(Relaxed) != self.seen_generation
    }

    /// Brings `rows` up to date if the topic's generation moved; returns whether it did. Between dead marks and the look at
    /// the pins this stands after the SeqCst fence: a joiner raises the generation before it pins, so whoever could have
    /// seen an entry alive is either in `rows` or makes us look again here. Control path when something changed.
    pub(crate) fn refresh(&mut self, participant: &Participant) -> bool {
        let line = participant.board.line(self.topic);
        // The generation first: rows that appear after it was read raise it again.
        let generation = acquire(&line.generation);
        if generation == self.seen_generation {
            return false;
        }
        match self.find(participant) {
            Ok(rows) => {
                self.rows = rows;
                self.held.reserve(self.rows.len() * PINS_PER_ROW);
                (self.seen_generation, self.unmapped) = (generation, None);
            }
            Err(error) => self.unmapped = Some(error.to_string()),
        }
        true
    }

    fn find(&self, participant: &Participant) -> Result<Vec<PeerRow>> {
        let mut rows = Vec::new();
        for peer in participant.peers()?.iter().filter(|peer| peer.is_alive()) {
            rows.extend(peer.rows_of(self.key)?);
        }
        Ok(rows)
    }

    /// The generation whose joiners are known.
    pub(crate) fn seen_generation(&self) -> u64 {
        self.seen_generation
    }

    /// Why not all rows are known; then nothing may be freed.
    pub(crate) fn unmapped(&self) -> Option<&str> {
        self.unmapped.as_deref()
    }

    fn active(&self) -> impl Iterator<Item = &Row> {
        // A row whose subscription left may belong to another publisher by now.
        let is_active = |row: &&Row| row.state.load(Relaxed) == ROW_ACTIVE && row.key.load(Relaxed) == self.key;
        self.rows.iter().map(PeerRow::row).filter(is_active)
    }

    /// How many subscriptions there are.
    pub(crate) fn count(&self) -> usize {
        self.active().count()
    }

    /// How many samples the deepest subscription wants kept.
    pub(crate) fn deepest(&self) -> usize {
        self.active().map(|row| row.depth.load(Relaxed) as usize).max().unwrap_or(0)
    }

    /// The oldest sequence that a subscription may still take, 0 = all, `None` = there is no subscription.
    pub(crate) fn slowest_cursor(&self) -> Option<u64> {
        // Relaxed: it decides what is kept, not what is safe; the pins protect what is held.
        self.active().map(|row| row.cursor.load(Relaxed)).min()
    }

    /// The sequences that are pinned, sorted.
    pub(crate) fn held(&mut self) -> &[u64] {
        self.held.clear();
        for reader in &self.rows {
            let pins = reader.row().pins.iter().map(|pin| pin.load(Relaxed));
            self.held.extend(pins.filter(|&sequence| sequence != 0));
        }
        fence(Acquire); // (4) readers' last reads (Release in PinRow::unpin) before their slots are written again
        self.held.sort_unstable();
        &self.held
    }

    /// Probes the processes of the readers and forgets the dead; returns whether there were any.
    pub(crate) fn drop_the_dead(&mut self) -> bool {
        let before = self.rows.len();
        self.rows.retain(|reader| reader.peer.is_alive());
        self.rows.len() < before
    }

    /// Who holds how many samples, for an error sentence.
    pub(crate) fn holders(&self) -> Vec<String> {
        let mut held: BTreeMap<String, usize> = BTreeMap::new();
        for reader in &self.rows {
            let pins = reader.row().pins.iter().filter(|pin| pin.load(Relaxed) != 0).count();
            *held.entry(format!("{} (pid {})", reader.peer.name, reader.peer.pid)).or_default() += pins;
        }
        held.into_iter().filter(|&(_, pins)| pins > 0).map(|(who, pins)| format!("{pins} held by {who}")).collect()
    }
}
