//! The offsets of meaningful words in each kind of file. Random damage would rarely hit these words.

use super::input::word;
use crate::protocol::{layout::*, ring::Descriptor};
use std::mem::offset_of;

/// The number of ring entries, topic lines or blocks whose words are listed.
const MANY: usize = 64;

/// The offsets of the words in the `length_bytes` bytes from `start` on.
fn words(start: usize, length_bytes: usize) -> impl Iterator<Item = usize> {
    (start..start.saturating_add(length_bytes)).step_by(8)
}

/// The offsets of words of a description.
pub(super) fn description(_: &[u8]) -> Vec<usize> {
    words(0, size_of::<DescriptionHeader>()).collect()
}

/// The offsets of words of a board.
pub(super) fn board(bytes: &[u8]) -> Vec<usize> {
    let name = |line: usize| BOARD_NAMES_OFFSET + line * size_of::<u64>();
    let taken = (0..NAMED_LINES).filter(|&line| word(bytes, name(line)) != 0).take(MANY);
    let names = taken.clone().map(name);
    let taken = taken.map(|line| BOARD_TOPICS_OFFSET + line * size_of::<TopicLine>());
    // The bells and owners of the first waiter lines.
    let waiters = (0..4).flat_map(|line| words(BOARD_WAITERS_OFFSET + line * size_of::<WaiterLine>(), 16));
    words(0, size_of::<BoardHeader>())
        .chain(names)
        .chain(taken.flat_map(|topic| words(topic, size_of::<TopicLine>())))
        .chain(waiters)
        .collect()
}

/// The offsets of words of a process file.
pub(super) fn process(bytes: &[u8]) -> Vec<usize> {
    let mut offsets: Vec<usize> = words(0, size_of::<ProcessHeader>()).collect();
    let mut block = word(bytes, offset_of!(ProcessHeader, first_block)) as usize;
    for _ in 0..MANY {
        let size_bytes = word(bytes, block) as usize;
        if !(LINE_BYTES..=bytes.len()).contains(&size_bytes) {
            break;
        }
        // A block's header is followed by reader records or by a description; these are the first words of both.
        offsets.extend(words(block, 24));
        offsets.extend(words(block + LINE_BYTES, (4 * LINE_BYTES).min(size_bytes - LINE_BYTES)));
        block += size_bytes;
    }
    offsets.retain(|offset| offset + 8 <= bytes.len());
    offsets
}

/// The offsets of words of a publisher's file.
pub(super) fn publisher(bytes: &[u8]) -> Vec<usize> {
    let mut offsets: Vec<usize> = words(0, size_of::<PublisherHeader>()).collect();
    // Each take of a reader depends on these words, so they are repeated: the fuzzer chooses them more often.
    offsets.extend([offset_of!(PublisherHeader, ring), offset_of!(PublisherHeader, head)].repeat(8));
    let ring = Descriptor::from_word(word(bytes, offset_of!(PublisherHeader, ring)));
    let entry_bytes = word(bytes, offset_of!(PublisherHeader, domain_id)) as usize >> 32;
    for entry in 0..MANY.min(1 << ring.log2_capacity.min(6)) {
        let offset = ring.offset + entry * entry_bytes;
        let entry = word(bytes, offset);
        if entry != 0 {
            // The first word determines whether and how the rest is read, so the fuzzer chooses it more often.
            offsets.extend([offset].repeat(4));
            offsets.extend(words(offset, entry_bytes.min(64)));
            let slot = (entry >> 32) as usize * LINE_BYTES;
            offsets.extend(words(slot + offset_of!(SlotHeader, request_gid), 64));
        }
    }
    offsets.retain(|offset| offset + 8 <= bytes.len());
    offsets
}
