//! The state that few connections need. It is allocated separately, because a process with many nodes has thousands of
//! connections.

use super::Connection;
use crate::subscribe::owned_record::{FreeSearch, OwnedRecord};
use std::sync::Arc;

pub(super) struct Uncommon {
    /// Whether the publisher waits for this reader.
    pub(super) is_gating: bool,
    /// Whether the publisher left or died. If so, the connection is dropped after its last sample.
    is_gone: bool,
    /// The publisher's lifespan: older samples are skipped; with `u64::MAX` no sample is skipped.
    pub(super) lifespan_ns: u64,
    /// Additional reader records, for their pins: one record has few pins, and a subscription may hold many samples.
    pub(super) extensions: Vec<Arc<OwnedRecord>>,
    /// The search for an additional record with a free pin.
    pub(super) search: FreeSearch,
}

impl Default for Uncommon {
    fn default() -> Uncommon {
        let (extensions, search) = (Vec::new(), FreeSearch::default());
        Uncommon { is_gating: false, is_gone: false, lifespan_ns: u64::MAX, extensions, search }
    }
}

impl Connection {
    /// The uncommon state, which the first call allocates.
    pub(super) fn uncommon_mut(&mut self) -> &mut Uncommon {
        self.uncommon.get_or_insert_default()
    }

    /// Whether the publisher waits for this reader.
    #[inline]
    pub(crate) fn is_gating(&self) -> bool {
        self.uncommon.as_ref().is_some_and(|uncommon| uncommon.is_gating)
    }

    /// The additional reader records, without the record that has the cursor.
    pub(super) fn extensions(&self) -> &[Arc<OwnedRecord>] {
        self.uncommon.as_ref().map_or(&[], |uncommon| &uncommon.extensions)
    }

    /// Whether the publisher left or died. If so, the connection is dropped after its last sample.
    pub(crate) fn is_gone(&self) -> bool {
        self.uncommon.as_ref().is_some_and(|uncommon| uncommon.is_gone)
    }

    /// Sets whether the publisher left or died.
    pub(crate) fn set_gone(&mut self, is_gone: bool) {
        if is_gone != self.is_gone() {
            self.uncommon_mut().is_gone = is_gone;
        }
    }
}
