//! The alignment of a CDR body, and private memory with this alignment.

use alloc::{vec, vec::Vec};
use zerocopy::IntoBytes;

/// The largest alignment of a number in CDR, which is also the alignment of a body.
pub const BODY_ALIGN: usize = 8;

/// Private memory for a CDR body. It is aligned to 8 bytes.
#[derive(Clone, Debug, Default)]
pub struct AlignedBytes {
    words: Vec<u64>,
    length_bytes: usize,
}

impl AlignedBytes {
    /// Makes memory of `length_bytes` zeros.
    #[must_use]
    pub fn zeroed(length_bytes: usize) -> AlignedBytes {
        AlignedBytes { words: vec![0; length_bytes.div_ceil(BODY_ALIGN)], length_bytes }
    }

    /// Copies `bytes` to aligned memory.
    #[must_use]
    pub fn copy_of(bytes: &[u8]) -> AlignedBytes {
        let mut copy = AlignedBytes::zeroed(bytes.len());
        copy.as_mut().copy_from_slice(bytes);
        copy
    }
}

impl AsRef<[u8]> for AlignedBytes {
    fn as_ref(&self) -> &[u8] {
        &self.words.as_bytes()[..self.length_bytes]
    }
}

impl AsMut<[u8]> for AlignedBytes {
    fn as_mut(&mut self) -> &mut [u8] {
        &mut self.words.as_mut_bytes()[..self.length_bytes]
    }
}
