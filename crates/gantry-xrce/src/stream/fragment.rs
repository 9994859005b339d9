//! Fragments: slices of a submessage that is too long for one message. Each slice is sent in a separate message.

use crate::wire::{Flags, SUBMESSAGE_HEADER_BYTES, SubmessageId};

/// The header of a FRAGMENT submessage with `length` bytes.
pub(super) fn header(length: u16, is_last: bool) -> [u8; SUBMESSAGE_HEADER_BYTES] {
    let flags = if is_last { Flags::LITTLE_ENDIAN | Flags::LAST_FRAGMENT } else { Flags::LITTLE_ENDIAN };
    let [low, high] = length.to_le_bytes();
    [SubmessageId::FRAGMENT.0, flags.0, low, high]
}

/// The next multiple of 4, at which the next submessage begins.
pub(super) const fn aligned(offset: usize) -> usize {
    offset.next_multiple_of(4)
}

/// A part of a body.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Part<'a> {
    /// Submessages other than FRAGMENT.
    Submessages(&'a [u8]),
    /// The bytes of one FRAGMENT.
    Fragment { bytes: &'a [u8], is_last: bool },
    /// A FRAGMENT that states `length` bytes, more than the rest of the body has.
    Malformed { length: usize },
}

/// The parts of a body, in order: fragments, and submessages between them. eProsima's client puts the first
/// fragment after other submessages if there is room.
#[derive(Clone, Debug)]
pub(super) struct Parts<'a>(pub &'a [u8]);

impl<'a> Iterator for Parts<'a> {
    type Item = Part<'a>;

    fn next(&mut self) -> Option<Part<'a>> {
        let body = self.0;
        let mut offset = 0;
        loop {
            let rest = body.get(offset..).unwrap_or(&[]);
            let Some((&[id, flags, low, high], payload)) = rest.split_first_chunk::<SUBMESSAGE_HEADER_BYTES>() else {
                // The body has ended, or fewer bytes than a header are left. In the latter case, the reader of
                // submessages returns an error.
                self.0 = &[];
                return if body.is_empty() { None } else { Some(Part::Submessages(body)) };
            };
            let (id, length) = (SubmessageId(id), usize::from(u16::from_le_bytes([low, high])));
            match id {
                SubmessageId::FRAGMENT if offset > 0 => {
                    let (before, fragment) = body.split_at_checked(offset)?;
                    self.0 = fragment;
                    return Some(Part::Submessages(before));
                }
                SubmessageId::FRAGMENT => {
                    self.0 = body.get(aligned(SUBMESSAGE_HEADER_BYTES + length)..).unwrap_or(&[]);
                    let is_last = Flags(flags).has(Flags::LAST_FRAGMENT);
                    let bytes = payload.get(..length);
                    return Some(bytes.map_or(Part::Malformed { length }, |bytes| Part::Fragment { bytes, is_last }));
                }
                // A length of 0 means that the data ends with the body: the length did not fit in the field.
                SubmessageId::WRITE_DATA if length == 0 => offset = body.len(),
                _ => offset = aligned(offset + SUBMESSAGE_HEADER_BYTES + length),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Part, Parts, header};

    #[test]
    fn a_fragment_may_follow_other_submessages() {
        let body = [7, 1, 2, 0, 0xaa, 0xbb, 0, 0, 13, 1, 3, 0, 1, 2, 3];
        let mut parts = Parts(&body);
        assert_eq!(parts.next(), Some(Part::Submessages(&body[..8])));
        assert_eq!(parts.next(), Some(Part::Fragment { bytes: &[1, 2, 3], is_last: false }));
        assert_eq!(parts.next(), None);
    }

    #[test]
    fn the_last_flag_is_read_in_both_byte_orders() {
        assert_eq!(header(500, false), [0x0d, 0x01, 0xf4, 0x01]);
        assert_eq!(header(16, true), [0x0d, 0x03, 0x10, 0x00]);
        let body = [13, 2, 1, 0, 9];
        assert_eq!(Parts(&body).next(), Some(Part::Fragment { bytes: &[9], is_last: true }));
    }

    #[test]
    fn a_fragment_beyond_its_message_is_malformed() {
        let mut parts = Parts(&[13, 1, 9, 0, 1, 2]);
        assert_eq!(parts.next(), Some(Part::Malformed { length: 9 }));
        assert_eq!(parts.next(), None);
    }

    #[test]
    fn any_bytes_end() {
        let mut random = fastrand::Rng::with_seed(7);
        for _ in 0..if cfg!(miri) { 50 } else { 20_000 } {
            let mut body = [0; 40];
            let length = random.usize(..=body.len());
            body.iter_mut().for_each(|byte| *byte = random.choice([0, 1, 2, 3, 4, 7, 13, 255]).unwrap());
            assert!(Parts(&body[..length]).count() <= 1 + length);
        }
    }
}
