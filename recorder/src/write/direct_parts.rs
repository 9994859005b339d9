//! The parts of a direct write: memory and lengths that are multiples of the alignment.
//!
//! A part whose address has the remainder of its offset in the file is written in place, except its first and its last
//! bytes, which share a page with other parts. These bytes and all other parts are copied into a buffer. The buffer is
//! kept between writes, because fresh memory costs a page fault per page.

use std::io::IoSlice;

/// The memory grows in steps of this number of bytes.
const STEP_BYTES: usize = 1 << 20;

/// The memory for the copies of one write at a time. It grows to the longest copies.
#[derive(Debug, Default)]
pub struct DirectParts {
    memory: Vec<u8>,
}

/// Bytes that are written in place, or copied.
struct Piece<'a> {
    bytes: &'a [u8],
    is_in_place: bool,
}

impl DirectParts {
    /// Arranges the parts of a write at `offset`. All addresses have the remainder of their offset when divided by
    /// `alignment`, a power of two, and the parts begin and end at multiples of it, except the start of the first part
    /// and the end of the last one.
    pub fn arrange<'a>(
        &'a mut self,
        parts: impl Iterator<Item = &'a [u8]>,
        offset: u64,
        alignment: u64,
    ) -> Vec<IoSlice<'a>> {
        let (mut pieces, mut at) = (Vec::new(), offset);
        for part in parts {
            pieces.extend(Piece::split(part, at, alignment as usize));
            at += part.len() as u64;
        }
        let copied = |piece: &&Piece<'_>| !piece.is_in_place;
        let copied_bytes = pieces.iter().filter(copied).map(|piece| piece.bytes.len()).sum();
        let mut free = self.memory(copied_bytes, offset, alignment as usize);
        let (mut slices, mut filled) = (Vec::new(), 0);
        for piece in &pieces {
            if piece.is_in_place {
                let (copies, rest) = free.split_at_mut(filled);
                slices.extend((filled > 0).then(|| IoSlice::new(copies)));
                slices.push(IoSlice::new(piece.bytes));
                (free, filled) = (rest, 0);
            } else {
                free[filled..filled + piece.bytes.len()].copy_from_slice(piece.bytes);
                filled += piece.bytes.len();
            }
        }
        slices.extend((filled > 0).then_some(IoSlice::new(free)));
        slices
    }

    /// Memory whose address has the remainder of `offset`.
    fn memory(&mut self, bytes: usize, offset: u64, alignment: usize) -> &mut [u8] {
        let needed = bytes + 2 * alignment;
        if self.memory.len() < needed {
            self.memory = Vec::new(); // frees the old memory before the new memory is allocated
            self.memory = vec![0; needed.next_multiple_of(STEP_BYTES)];
        }
        let start = self.memory.as_ptr().align_offset(alignment) + (offset % alignment as u64) as usize;
        &mut self.memory[start..start + bytes]
    }

    /// The length of the memory.
    pub fn bytes(&self) -> u64 {
        self.memory.len() as u64
    }
}

impl<'a> Piece<'a> {
    /// Splits a part at the file's offset `at` into the whole pages that can be written in place, and the rest.
    fn split(part: &'a [u8], at: u64, alignment: usize) -> impl Iterator<Item = Piece<'a>> {
        let skipped = (at.next_multiple_of(alignment as u64) - at) as usize;
        let is_congruent = (part.as_ptr().addr() as u64).wrapping_sub(at).is_multiple_of(alignment as u64);
        let (head, rest) = match is_congruent && part.len() >= skipped + alignment {
            true => part.split_at(skipped),
            false => (part, &part[part.len()..]),
        };
        let (middle, tail) = rest.split_at(rest.len() - rest.len() % alignment);
        let pieces = [(head, false), (middle, true), (tail, false)].into_iter();
        pieces.filter(|(bytes, _)| !bytes.is_empty()).map(|(bytes, is_in_place)| Piece { bytes, is_in_place })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PAGE: u64 = 4096;

    #[test]
    fn all_parts_are_aligned_and_whole_pages_stay_in_place() {
        let memory: Vec<u8> = (0..200_000usize).map(|byte| (byte / 7) as u8).collect();
        let page = memory.as_ptr().align_offset(PAGE as usize);
        let mut direct = DirectParts::default();
        for (offset, large_at) in [(0, 1000), (4095, 1000), (5 << 30 | 777, 4000), (3 * PAGE, 0)] {
            // The second part has the remainder of its offset, the others have not.
            let start_bytes = (page as u64 + large_at).wrapping_sub(offset) % PAGE + 2 * PAGE;
            let start = &memory[1..][..start_bytes as usize];
            let at = (offset + start_bytes) as usize % PAGE as usize;
            let large = &memory[page + at..][..100_000];
            let parts = [start, large, &memory[3..][..5000]];
            let expected = parts.concat();
            let arranged = direct.arrange(parts.into_iter(), offset, PAGE);
            let mut written_at = offset;
            for part in &arranged {
                assert_eq!(part.as_ptr().addr() as u64 % PAGE, written_at % PAGE);
                written_at += part.len() as u64;
                assert!(written_at.is_multiple_of(PAGE) || written_at == offset + expected.len() as u64);
            }
            assert_eq!(arranged.iter().flat_map(|part| part.iter().copied()).collect::<Vec<u8>>(), expected);
            let in_place = arranged.iter().filter(|part| large.as_ptr_range().contains(&part.as_ptr()));
            assert!(in_place.map(|part| part.len()).sum::<usize>() >= 100_000 - 2 * PAGE as usize);
        }
    }
}
