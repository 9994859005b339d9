//! The rows of one publisher's readers, as they were when the topic had a certain generation.
//!
//! Made by `readers` (on the control path), used by `writer`. Invariant C1: a roster holds every row that was made for this
//! publisher before its `generation`. Nothing here allocates after [`Roster::new`].

use crate::protocol::{
    layout::{PINS_PER_ROW, ROW_ACTIVE, ROW_GATING, Row},
    shared::InRegion,
    sync::{Ordering::Relaxed, Site, acquire_fence},
};

/// The rows, each with what keeps its memory mapped.
pub(crate) struct Roster<K> {
    /// The publisher's key, by which rows name it.
    key: u64,
    generation: u64,
    pub(crate) rows: Vec<(InRegion<Row>, K)>,
    /// Scratch for the pins that are held.
    held: Vec<u64>,
}

impl<K> Roster<K> {
    /// C1 holds for `rows`.
    pub(crate) fn new(key: u64, generation: u64, rows: Vec<(InRegion<Row>, K)>) -> Roster<K> {
        let held = Vec::with_capacity(rows.len() * PINS_PER_ROW);
        Roster { key, generation, rows, held }
    }

    /// The generation whose joiners are known.
    #[inline]
    pub(crate) fn generation(&self) -> u64 {
        self.generation
    }

    /// Rows of subscriptions that still take. A row whose subscription left may belong to another publisher by now.
    fn active(&self) -> impl Iterator<Item = (&Row, u32)> {
        self.rows.iter().filter_map(|(row, _)| Some((&**row, self.state_of_active(row)?)))
    }

    fn state_of_active(&self, row: &Row) -> Option<u32> {
        let state = row.state.load(Relaxed);
        (matches!(state, ROW_ACTIVE | ROW_GATING) && row.key.load(Relaxed) == self.key).then_some(state)
    }

    /// What keeps the memory of subscriptions that still take.
    pub(crate) fn keepers(&self) -> impl Iterator<Item = &K> {
        self.rows.iter().filter(|(row, _)| self.state_of_active(row).is_some()).map(|(_, keeper)| keeper)
    }

    /// How many subscriptions there are.
    pub(crate) fn count(&self) -> usize {
        self.active().count()
    }

    /// How many samples the deepest subscription wants kept.
    pub(crate) fn deepest(&self) -> usize {
        self.active().map(|(row, _)| row.depth.load(Relaxed) as usize).max().unwrap_or(0)
    }

    /// The oldest sequence that a subscription may still take, 0 = all, `None` = there is no subscription. Relaxed: it decides
    /// what is kept, not what is safe; the pins protect what is held.
    pub(crate) fn slowest_cursor(&self) -> Option<u64> {
        self.active().map(|(row, _)| row.cursor.load(Relaxed)).min()
    }

    /// The oldest sequence that a gating subscription has not taken yet; `u64::MAX` if there is none.
    pub(crate) fn gate(&self) -> u64 {
        let gating = self.active().filter(|&(_, state)| state == ROW_GATING);
        let gate = gating.map(|(row, _)| row.cursor.load(Relaxed)).min().unwrap_or(u64::MAX);
        acquire_fence(Site::GateLook); // (6)
        gate
    }

    /// The sequences that are pinned, sorted.
    pub(crate) fn held(&mut self) -> &[u64] {
        self.held.clear();
        for (row, _) in &self.rows {
            let pins = row.pins.iter().map(|pin| pin.load(Relaxed));
            self.held.extend(pins.filter(|&sequence| sequence != 0));
        }
        acquire_fence(Site::PinsLook); // (4) readers' last reads before their slots are written again
        self.held.sort_unstable();
        &self.held
    }
}
