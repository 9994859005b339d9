//! The assembly of a submessage from its fragments.

/// A fragmented submessage whose last fragment has not arrived. Invariant: unless `is_skipping` is set, the buffer has
/// the first bytes of the submessage: all bytes that have arrived, or as many as fit.
#[derive(Debug)]
pub(super) struct Assembly {
    /// The number of bytes that arrived, including bytes that did not fit.
    length: usize,
    /// Whether a part of the submessage is lost. All fragments up to the last one are then dropped.
    is_skipping: bool,
}

/// The result of adding a fragment.
pub(super) enum Piece<'a> {
    /// The fragment was not the last one.
    Middle,
    /// The fragment was the last one: this is the complete submessage.
    Whole(&'a [u8]),
    /// The fragment was the last one of a submessage that is longer than the buffer.
    Oversize { length: usize },
    /// The fragment was the last one of a submessage whose other fragments are lost.
    Incomplete { length: usize },
}

impl Assembly {
    pub const fn new() -> Self {
        Self { length: 0, is_skipping: false }
    }

    /// Appends a fragment to the fragments in `buffer`.
    pub fn add<'a>(&mut self, buffer: &'a mut [u8], fragment: &[u8], is_last: bool) -> Piece<'a> {
        let begin = self.length;
        self.length = begin.saturating_add(fragment.len());
        if !self.is_skipping
            && let Some(room) = buffer.get_mut(begin..self.length)
        {
            room.copy_from_slice(fragment);
        }
        if !is_last {
            return Piece::Middle;
        }
        let is_incomplete = self.is_skipping;
        let length = self.end();
        match buffer.get(..length) {
            _ if is_incomplete => Piece::Incomplete { length },
            Some(whole) => Piece::Whole(whole),
            None => Piece::Oversize { length },
        }
    }

    /// Gives up the submessage, because a fragment of `length` bytes could not be used, or other fragments are lost.
    /// The remaining fragments are dropped.
    pub fn skip(&mut self, length: usize) {
        self.length = self.length.saturating_add(length);
        self.is_skipping = true;
    }

    /// Ends the assembly, because no fragment follows: forgets the fragments that arrived, and returns the number
    /// of their bytes.
    pub fn end(&mut self) -> usize {
        self.is_skipping = false;
        core::mem::take(&mut self.length)
    }
}
