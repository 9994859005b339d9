//! A buffer for direct writes, which need aligned memory. It is kept between writes, because fresh memory costs a page
//! fault per page.

use std::io::IoSlice;

/// The memory grows in steps of this number of bytes.
const STEP_BYTES: usize = 1 << 20;

/// Memory for one copy at a time. It grows to the longest copy.
#[derive(Debug, Default)]
pub struct AlignedBuffer {
    memory: Vec<u8>,
}

impl AlignedBuffer {
    /// Copies the parts, one behind the other. Returns the copy, whose address has the same remainder as `offset` when
    /// divided by `alignment`, a power of two.
    pub fn copy(&mut self, parts: &[IoSlice<'_>], offset: u64, alignment: usize) -> &[u8] {
        let bytes: usize = parts.iter().map(|part| part.len()).sum();
        let needed = bytes + 2 * alignment;
        if self.memory.len() < needed {
            self.memory = Vec::new(); // frees the old memory before the new memory is allocated
            self.memory = vec![0; needed.next_multiple_of(STEP_BYTES)];
        }
        let start = self.memory.as_ptr().align_offset(alignment) + (offset % alignment as u64) as usize;
        let copy = &mut self.memory[start..start + bytes];
        let mut at = 0;
        for part in parts {
            copy[at..at + part.len()].copy_from_slice(part);
            at += part.len();
        }
        copy
    }

    /// The length of the memory.
    pub fn bytes(&self) -> u64 {
        self.memory.len() as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn copies_have_the_alignment_of_their_offset() {
        let mut buffer = AlignedBuffer::default();
        for (offset, bytes) in [(0, 5), (4095, 9000), (8192, 3), (3 << 40 | 77, 100_000)] {
            let data: Vec<u8> = (0..bytes).map(|byte| byte as u8).collect();
            let (start, end) = data.split_at(2);
            let copy = buffer.copy(&[IoSlice::new(start), IoSlice::new(end)], offset, 4096);
            assert_eq!(copy, data);
            assert_eq!(copy.as_ptr().addr() as u64 % 4096, offset % 4096);
        }
    }
}
