//! The payload of messages according to `--touch`. The publisher writes it; the subscription reads and checks it.
//!
//! All written bytes of a message have the same value, which depends on the message's id. A reader therefore detects if
//! another message overwrote the slot during the read.

use std::hint::black_box;

use crate::spec::ways::Touch;

/// The distance between the bytes that `--touch page` writes and reads: the smallest page size.
const PAGE_BYTES: usize = 4096;

/// The value of all written bytes of message `id`. Ids that differ by 1, 256 or 65536 have different values.
fn value(id: u64) -> u8 {
    (id ^ (id >> 8) ^ (id >> 16)) as u8
}

/// Writes a payload according to `touch`.
pub fn write(bytes: &mut [u8], touch: Touch, id: u64) {
    let value = value(id);
    match touch {
        Touch::Stamp => {}
        Touch::Page => bytes.iter_mut().step_by(PAGE_BYTES).for_each(|byte| *byte = value),
        Touch::Full => bytes.fill(value),
    }
}

/// Reads a payload according to `touch`. Returns whether it has the bytes of message `id`.
#[must_use]
pub fn read(bytes: &[u8], touch: Touch, id: u64) -> bool {
    let value = value(id);
    match touch {
        Touch::Stamp => true,
        Touch::Page => black_box(bytes).iter().step_by(PAGE_BYTES).fold(true, |same, byte| same & (*byte == value)),
        // The loop has no early exit, so the compiler can vectorize it and every byte is read.
        Touch::Full => black_box(bytes).iter().fold(0, |differs, byte| differs | (byte ^ value)) == 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_written_payload_is_accepted_and_any_other_is_detected() {
        for touch in [Touch::Page, Touch::Full] {
            for id in [1, 255, 256, 257, 65_536, u64::MAX] {
                let mut bytes = vec![0x5a; 3 * PAGE_BYTES + 1];
                write(&mut bytes, touch, id);
                assert!(read(&bytes, touch, id), "{touch:?} {id}");
                assert!(!read(&bytes, touch, id.wrapping_add(1)), "{touch:?} {id} is its successor's");
                bytes[2 * PAGE_BYTES] ^= 1;
                assert!(!read(&bytes, touch, id), "{touch:?} {id} with a flipped bit");
            }
        }
    }

    #[test]
    fn a_touch_writes_its_part_and_nothing_else() {
        let untouched = vec![0x5a_u8; 2 * PAGE_BYTES];
        let written = |touch| {
            let mut bytes = untouched.clone();
            write(&mut bytes, touch, 1);
            bytes.iter().zip(&untouched).filter(|(now, before)| now != before).count()
        };
        assert_eq!([Touch::Stamp, Touch::Page, Touch::Full].map(written), [0, 2, 2 * PAGE_BYTES]);
    }

    #[test]
    fn there_may_be_no_payload() {
        write(&mut [], Touch::Full, 7);
        assert!(read(&[], Touch::Page, 7) && read(&[], Touch::Full, 7));
    }
}
