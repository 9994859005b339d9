//! The contents of a sample. All bytes are computed from the sample's publisher, sequence number and length. So a
//! sample can be checked at any time without a copy.

use crate::outcome::Result;
use gantry_shm::Gid;

/// The number of words at the beginning of a message that contain its publisher and its sequence number. An error text
/// prints them if the bytes belong to another sample. Short messages do not have these words.
const NAME_WORDS: usize = 3;
const WORD_BYTES: usize = 8;
/// An odd multiplier whose bits look random.
const STEP: u64 = 0x9e37_79b9_7f4a_7c15;

/// Fills in the bytes of the sample with this publisher and sequence number.
pub fn fill(bytes: &mut [u8], gid: Gid, sequence: u64) {
    let key = key(gid, sequence, bytes.len());
    let (words, rest) = bytes.as_chunks_mut::<WORD_BYTES>();
    words.iter_mut().enumerate().for_each(|(index, word)| *word = word_at(key, index));
    let last = word_at(key, words.len());
    rest.copy_from_slice(&last[..rest.len()]);
    if words.len() >= NAME_WORDS {
        words[..NAME_WORDS].copy_from_slice(&name(gid, sequence));
    }
}

/// Checks all bytes of the sample with this publisher and sequence number.
pub fn check(bytes: &[u8], gid: Gid, sequence: u64) -> Result<()> {
    let key = key(gid, sequence, bytes.len());
    let (words, rest) = bytes.as_chunks::<WORD_BYTES>();
    let named = if words.len() >= NAME_WORDS { NAME_WORDS } else { 0 };
    if words[..named] != name(gid, sequence)[..named] {
        let (gid, sequence) = (Gid([words[0], words[1]].concat().try_into().unwrap_or_default()), words[2]);
        return Err(format!("its bytes belong to sample {} of {gid:02x?}", u64::from_le_bytes(sequence)));
    }
    let is_wrong = |(index, word): (usize, &[u8; WORD_BYTES])| *word != word_at(key, index);
    if let Some(word) = words.iter().enumerate().skip(named).position(is_wrong) {
        let offset = (named + word) * WORD_BYTES;
        return Err(format!("its bytes from {offset} on differ from those that were written ({} bytes)", bytes.len()));
    }
    if *rest != word_at(key, words.len())[..rest.len()] {
        return Err(format!("its last bytes differ from those that were written ({} bytes)", bytes.len()));
    }
    Ok(())
}

fn name(gid: Gid, sequence: u64) -> [[u8; WORD_BYTES]; NAME_WORDS] {
    let [first, second] = halves(gid);
    [first, second, sequence].map(u64::to_le_bytes)
}

fn halves(gid: Gid) -> [u64; 2] {
    let gid = u128::from_le_bytes(gid.0);
    [gid as u64, (gid >> 64) as u64]
}

fn key(gid: Gid, sequence: u64, length_bytes: usize) -> u64 {
    let [first, second] = halves(gid);
    let words = [first, second, sequence, length_bytes as u64];
    words.iter().fold(1, |key: u64, word| (key.rotate_left(29) ^ word).wrapping_mul(STEP))
}

fn word_at(key: u64, index: usize) -> [u8; WORD_BYTES] {
    let word = key.wrapping_add((index as u64).wrapping_mul(STEP));
    (word ^ (word >> 31)).to_le_bytes()
}
