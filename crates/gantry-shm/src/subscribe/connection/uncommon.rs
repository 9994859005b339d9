//! The state that few connections need. It is allocated separately, because a process with many nodes has thousands of
//! connections.

use super::Connection;
use crate::subscribe::owned_record::{FreeSearch, OwnedRecord};
use std::sync::Arc;

pub(super) struct Uncommon {
    /// The publisher waits for this reader.
    pub(super) is_gating: bool,
    /// The publisher left or died: the connection is dropped after its last sample.
    is_gone: bool,
    /// Samples that are older than this are skipped; `u64::MAX` means that no sample is skipped.
    pub(super) lifespan_ns: u64,
    /// Additional reader records, for their pins: a record has few, and many samples may be held.
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
    /// Allocates at the first call.
    pub(super) fn uncommon_mut(&mut self) -> &mut Uncommon {
        self.uncommon.get_or_insert_default()
    }

    /// The publisher waits for this reader.
    #[inline]
    pub(crate) fn is_gating(&self) -> bool {
        self.uncommon.as_ref().is_some_and(|uncommon| uncommon.is_gating)
    }

    /// The records after the one with the cursor.
    pub(super) fn extensions(&self) -> &[Arc<OwnedRecord>] {
        self.uncommon.as_ref().map_or(&[], |uncommon| &uncommon.extensions)
    }

    /// The publisher left or died: the connection is dropped after its last sample.
    pub(crate) fn is_gone(&self) -> bool {
        self.uncommon.as_ref().is_some_and(|uncommon| uncommon.is_gone)
    }

    /// Sets whether it did.
    pub(crate) fn set_gone(&mut self, is_gone: bool) {
        if is_gone != self.is_gone() {
            self.uncommon_mut().is_gone = is_gone;
        }
    }
}
