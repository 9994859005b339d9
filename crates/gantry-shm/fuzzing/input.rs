//! The fuzzer's input, which is read as choices, as numbers and as damage to a file.
//!
//! Missing bytes are read as 0. So every input is valid, and a shorter input causes fewer actions.

use std::{
    fs::File,
    os::unix::fs::FileExt,
    path::Path,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering::Relaxed},
    },
    thread::JoinHandle,
};

/// Numbers that often break programs.
const EDGES: [u64; 24] = [
    0,
    1,
    2,
    63,
    64,
    127,
    128,
    4095,
    4096,
    1 << 20,
    1 << 30,
    i32::MAX as u64,
    1 << 31,
    u32::MAX as u64,
    1 << 32,
    1 << 38,
    (1 << 38) - 64,
    1 << 47,
    (1 << 62) - 1,
    1 << 62,
    i64::MAX as u64,
    1 << 63,
    u64::MAX - 63,
    u64::MAX,
];

/// The bytes of an input that are not read yet.
pub(super) struct Input<'a>(pub(super) &'a [u8]);

impl Input<'_> {
    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(super) fn byte(&mut self) -> u8 {
        let (&first, rest) = self.0.split_first().unwrap_or((&0, &[]));
        self.0 = rest;
        first
    }

    /// Reads a number below `end`.
    pub(super) fn below(&mut self, end: usize) -> usize {
        let choice = if end <= 256 { self.number(1) } else { self.number(3) };
        choice as usize % end.max(1)
    }

    /// Reads the next `bytes` bytes as a little-endian number.
    fn number(&mut self, bytes: usize) -> u64 {
        (0..bytes).fold(0, |number, byte| number | u64::from(self.byte()) << (8 * byte))
    }

    /// Reads a number of 64 bits: one of `EDGES`, a number near `old`, or any number.
    fn value(&mut self, old: u64) -> u64 {
        match self.below(5) {
            0 => EDGES[self.below(EDGES.len())],
            1 => old.wrapping_add_signed(i64::from(self.byte() as i8)),
            2 => old ^ 1 << (self.byte() % 64),
            3 => self.number(2),
            _ => self.number(8),
        }
    }
}

/// A file that the test damages according to the input.
pub(super) struct Damaged {
    file: Arc<File>,
    /// The function that returns the offsets of meaningful words in the file.
    word_offsets: fn(&[u8]) -> Vec<usize>,
}

impl Damaged {
    /// Creates a file with these bytes.
    pub(super) fn create(path: &Path, bytes: &[u8], word_offsets: fn(&[u8]) -> Vec<usize>) -> Damaged {
        let file = File::options().read(true).write(true).create(true).truncate(true).open(path).unwrap();
        file.write_all_at(bytes, 0).unwrap();
        Damaged { file: Arc::new(file), word_offsets }
    }

    /// Opens a file that is in use.
    pub(super) fn open(path: &Path, word_offsets: fn(&[u8]) -> Vec<usize>) -> Damaged {
        Damaged { file: Arc::new(File::options().read(true).write(true).open(path).unwrap()), word_offsets }
    }

    pub(super) fn file(&self) -> &File {
        &self.file
    }

    pub(super) fn length_bytes(&self) -> usize {
        self.file.metadata().unwrap().len() as usize
    }

    /// The first bytes of the file. The whole file may be much longer than the machine's memory.
    pub(super) fn bytes(&self) -> Vec<u8> {
        let mut bytes = vec![0; self.length_bytes().min(1 << 20)];
        self.file.read_exact_at(&mut bytes, 0).unwrap();
        bytes
    }

    /// Writes up to 15 words. For some inputs, also changes the length of the file.
    pub(super) fn damage(&self, input: &mut Input<'_>) {
        let choice = input.byte();
        (0..choice % 16).for_each(|_| self.poke(input));
        if choice / 16 % 4 == 1 {
            let old = self.length_bytes();
            let length = if choice & 128 == 0 { input.below(old + 1) as u64 } else { input.value(old as u64) };
            // The call fails if a file cannot have this length; the length then stays.
            let _ = self.file.set_len(length);
        }
    }

    /// Writes one, two, four or eight bytes at an offset that the input chooses.
    pub(super) fn poke(&self, input: &mut Input<'_>) {
        let (offset, old) = self.word(input);
        let width = 1 << input.below(4);
        let value = input.value(old).to_le_bytes();
        // The write must not lengthen the file, because only the owner changes the length of a file in use.
        let width = width.min(self.length_bytes().saturating_sub(offset));
        self.file.write_all_at(&value[..width], offset as u64).unwrap();
    }

    /// Starts a thread that alternately writes two values to one word, until the result is dropped.
    pub(super) fn flip(&self, input: &mut Input<'_>) -> Flipper {
        let (offset, old) = self.word(input);
        let values = [old, input.value(old)].map(u64::to_le_bytes);
        let (file, stop) = (self.file.clone(), Arc::new(AtomicBool::new(offset + 8 > self.length_bytes())));
        let stopped = stop.clone();
        let thread = std::thread::spawn(move || {
            for value in values.iter().cycle().take_while(|_| !stopped.load(Relaxed)) {
                file.write_all_at(value, offset as u64).unwrap();
            }
        });
        Flipper { stop, thread: Some(thread) }
    }

    /// Chooses an offset, usually of a meaningful word. Returns the offset and the value there.
    fn word(&self, input: &mut Input<'_>) -> (usize, u64) {
        let bytes = self.bytes();
        let offsets = (self.word_offsets)(&bytes);
        let choice = input.number(2) as usize;
        let offset = match choice < 0xe000 && !offsets.is_empty() {
            true => offsets[choice % offsets.len()],
            false => input.below(bytes.len()),
        };
        (offset, word(&bytes, offset))
    }
}

/// A thread that alternately writes two values to one word of a file, until this value is dropped.
pub(super) struct Flipper {
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Drop for Flipper {
    fn drop(&mut self) {
        self.stop.store(true, Relaxed);
        if let Some(thread) = self.thread.take() {
            thread.join().unwrap();
        }
    }
}

/// Reads the eight bytes at `offset` as a word; bytes beyond the end are 0.
pub(super) fn word(bytes: &[u8], offset: usize) -> u64 {
    let rest = bytes.get(offset..).unwrap_or_default();
    rest.first_chunk().map_or(0, |bytes| u64::from_le_bytes(*bytes))
}
