//! The protocol by which one publisher and many readers share memory without locks: atomics and private books only, no
//! files, no system calls but the futex. Models in `models` run this very code under loom.
//!
//! - `ring`: the slot of each sequence, or the sample itself; `entry` has the words of its entries.
//! - `writer`: publish, retire, reclaim; its books are in `history`, the records of its readers in `roster`.
//! - `reader`: take, release. `place`: the private memory of a sample that was taken.
//! - `listing`: the processes that a publisher must see before it reclaims, as a case table.
//! - `names`: the assignment of topics to lines of the board.
//! - `sleep`: wait, wake. `collect`: wait for many topics. `send`: a thread that wakes readers for publishers.
//!
//! # Pairs
//! 1. An entry is stored after its payload (Release); a reader loads the entry, then the payload (Acquire).
//! 2. The publisher marks entries dead, fences (SeqCst), then reads generation and pins; a reader makes its record
//!    visible, raises the generation, pins, fences (SeqCst), then looks at the entry. So either the reader sees the
//!    mark, or the publisher sees the record and the pin. A check that the entry did not change would not suffice: an
//!    entry may stay as it is while its sample leaves the history.
//! 3. News (an entry, a generation) is stored, then a SeqCst fence, then the sleepers are read; a waiter reads its
//!    bell, sets its sleepers bit, fences (SeqCst), looks for news, then sleeps unless the bell changed. So no wake-up
//!    is lost. An asynchronous publisher stores a sequence (Release) instead; the sender loads it, fences (SeqCst),
//!    then reads the sleepers.
//! 4. A pin is released after the last read (Release), and every later store to the same pin is a Release, too: since
//!    C++20 a Relaxed store would end the release sequence. The publisher reads pins, then fences (Acquire), then
//!    writes the slot.
//! 5. A larger ring is filled, its descriptor stored (Release), and only then the entries of the old ring are marked
//!    MOVED (Release).
//! 6. A gating subscription advances its cursor after it holds the sample, fences (SeqCst), then reads whether the
//!    publisher is blocked; the publisher sets that word, fences (SeqCst), then reads the cursors.
//! 7. The other words of an entry (a length, or an inline sample) are written after the dead mark of the entry's
//!    previous sample and a release fence. A reader looks at the entry, loads these words, fences (Acquire) and looks
//!    again: if the entry is unchanged, the words belong to it. The same holds for the renewed shift of wall times in
//!    the header, which is written only after all entries that refer to it were overwritten.
//! 8. A waiter that collects stays among the sleepers (3). A thread with news fences (SeqCst) before it reads the
//!    waiter's bits; if the topic's bit is not set, it sets the bit and fences (SeqCst); then it reads whether the
//!    waiter sleeps, and rings if so. The waiter takes the bits, fences (SeqCst), then looks at the topics; before it
//!    sleeps it reads its bell, stores that it sleeps, fences (SeqCst), and looks at the bits. So a bit that the thread
//!    finds set is taken after the news was stored, and a bit that it sets is seen or rung for. Several threads may
//!    collect for one waiter, under a lock. They sleep without it, and a ring wakes one. A thread stores that the
//!    waiter is awake before it takes the bits. A thread that goes on to other work while another one sleeps stores
//!    that the waiter is asleep, fences (SeqCst), looks at the bits, and rings if there are any.
//! 9. Within a process: the drop of a sample releases its pin, or the place of its copy, fences, then reads whether the
//!    record, or the places, are an orphan; the drop of the last owner marks the orphan, fences, then reads pins or
//!    places. So one of the two drops finds that nothing else keeps the memory. The fences are SeqCst, or a pair of
//!    which the first costs nothing (`os::asymmetric_fence`).
//! 10. Within a process: the drop of a sample ends the use of its place after its last read (Release); the thread that
//!     takes looks at the place (Acquire) before it writes the next sample there, and so does the thread that frees the
//!     places.
//! 11. A process sets its bit among the watchers of a topic's line, fences (SeqCst), then looks whether the line's word
//!     is unchanged; a thread that frees the line changes the word, fences (SeqCst), then looks at the bits. A thread
//!     that claims a line for a name changes that line's word, fences (SeqCst), then looks at the other words. So all
//!     holders of a topic hold the same line.

pub(crate) mod collect;
pub(crate) mod entry;
pub(crate) mod history;
pub(crate) mod layout;
pub(crate) mod line;
pub(crate) mod listing;
#[cfg(all(test, feature = "loom"))]
mod models;
pub(crate) mod names;
pub(crate) mod place;
pub(crate) mod prefetch;
pub(crate) mod reader;
pub(crate) mod ring;
pub(crate) mod roster;
pub(crate) mod send;
pub(crate) mod shared;
pub(crate) mod sleep;
pub(crate) mod sync;
pub(crate) mod writer;
