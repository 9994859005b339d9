//! The choice of the payload's words that are written and read. It is the same for all contestants.
//!
//! A closure of the contestant accesses each word. `Lines`: the writer writes one word of each 64-byte line and the
//! last word; the reader reads the last word. So every line moves to the writer's core, and the reader depends on the
//! word that was written last. `Stamped`: only the first word is written and read, as in performance_test.

/// The bytes of a word.
pub const WORD_BYTES: usize = 8;
/// The words of a cache line.
pub const LINE_WORDS: usize = 8;

/// The words of a payload that a message touches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Touch {
    /// Each line is written.
    Lines,
    /// One word is written.
    Stamped,
}

/// The size and the use of a payload.
#[derive(Clone, Copy, Debug)]
pub struct Payload {
    /// The size in bytes: a multiple of 8.
    pub bytes: usize,
    /// The words that are written and read.
    pub touch: Touch,
}

impl Payload {
    /// The size in words.
    pub fn words(&self) -> usize {
        self.bytes / WORD_BYTES
    }

    /// Writes a payload. `set` stores the message's value in the word with the given index.
    #[inline(always)]
    pub fn write(&self, mut set: impl FnMut(usize)) {
        match self.touch {
            Touch::Lines => {
                (0..self.words()).step_by(LINE_WORDS).for_each(&mut set);
                set(self.words() - 1);
            }
            Touch::Stamped => set(0),
        }
    }

    /// Reads a payload. `get` loads the word with the given index.
    #[inline(always)]
    pub fn read<T>(&self, get: impl FnOnce(usize) -> T) -> T {
        match self.touch {
            Touch::Lines => get(self.words() - 1),
            Touch::Stamped => get(0),
        }
    }
}
