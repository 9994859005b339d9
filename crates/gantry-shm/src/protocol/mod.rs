//! The protocol by which one publisher and many readers share memory without locks. The code uses atomics and private
//! data only; it makes no system calls except futex calls. The models in `models` run this code under loom.
//!
//! - `ring`: for each sequence, the location of the slot or the inline sample itself; `entry`: the word of a ring
//!   entry.
//! - `writer`: publish, retire, reclaim; `history`: the publisher's private list of slots; `roster`: the reader records
//!   of the publisher's readers.
//! - `reader`: take, release. `place`: the use of a subscription's private memory for a sample that was taken.
//! - `listing`: the processes that a publisher must see before it reclaims, as a case table.
//! - `names`: the assignment of topics to lines of the board.
//! - `sleep`: wait, wake. `collect`: wait for many topics. `send`: a thread that wakes readers for publishers.
//!
//! # Pairs
//! 1. An entry is stored after its payload (Release); a reader loads the entry, then the payload (Acquire).
//! 2. The publisher marks entries dead, fences (SeqCst), then reads generation and pins. A reader makes its reader
//!    record visible, raises the generation, pins, fences (SeqCst), then looks at the entry. So either the reader sees
//!    the mark, or the publisher sees the reader record and the pin. A check that the entry did not change would not
//!    suffice: an entry may stay as it is while its sample leaves the history.
//! 3. A thread stores its news (an entry, a generation), fences (SeqCst), then reads the sleepers. A waiter reads its
//!    bell, sets its bit among the sleepers, fences (SeqCst), looks for news, then sleeps unless the bell has changed.
//!    So no wake-up is lost. An asynchronous publisher stores a sequence (Release) instead; the sender thread loads the
//!    sequence, fences (SeqCst), then reads the sleepers.
//! 4. A pin is released after the last read (Release), and every later store to the same pin is a Release, too: since
//!    C++20 a Relaxed store would end the release sequence. The publisher reads pins, then fences (Acquire), then
//!    writes the slot.
//! 5. The publisher fills a larger ring, stores the ring's descriptor (Release), and only then marks the entries of the
//!    old ring MOVED (Release).
//! 6. A gating subscription advances its cursor after it holds the sample, fences (SeqCst), then reads whether the
//!    publisher is blocked. The publisher sets its `blocked` word, fences (SeqCst), then reads the cursors.
//! 7. The other words of an entry (a length, or an inline sample) are written after the dead mark of the entry's
//!    previous sample and a release fence. A reader loads the entry's word, loads the other words, fences (Acquire) and
//!    loads the entry's word again: if the word is unchanged, the other words belong to it. The same holds for the
//!    renewed shift of wall times in the header, which is written only after all entries that refer to the old shift
//!    were overwritten.
//! 8. A waiter that collects stays among the sleepers (3). A thread with news fences (SeqCst) before it reads the
//!    waiter's bits. If the topic's bit is not set, the thread sets the bit and fences (SeqCst). In both cases it then
//!    reads whether the waiter sleeps, and rings if so. The waiter takes the bits, fences (SeqCst), then looks at the
//!    topics. Before it sleeps, it reads its bell, stores that it sleeps, fences (SeqCst), and looks at the bits. So a
//!    bit that the thread finds set is taken after the news was stored, and a bit that the thread sets is seen or rung
//!    for. Several threads may collect for one waiter, under a lock. They sleep without the lock, and a ring wakes one
//!    of them. A thread stores that the waiter is awake before it takes the bits. A thread that turns to other work
//!    while another thread sleeps stores that the waiter is asleep, fences (SeqCst), looks at the bits, and rings if a
//!    bit is set.
//! 9. Within a process: an orphan is a reader record, or the places of a subscription, that only samples keep. The drop
//!    of a sample releases its pin or its place, fences, then reads whether the memory is an orphan. The drop of the
//!    last other owner marks the orphan, fences, then reads the pins or places. So one of the two drops finds that
//!    nothing else keeps the memory. The fences are SeqCst, or a pair of fences of which the one in the drop of a
//!    sample costs nothing (`os::asymmetric_fence`).
//! 10. Within a process: the drop of a sample ends the use of its place after its last read (Release). The thread that
//!     takes loads the place's flag (Acquire) before it writes the next sample there; the thread that frees the places
//!     loads the flag in the same way.
//! 11. A process sets its bit among the watchers of a topic's line, fences (SeqCst), then checks that the line's word
//!     is unchanged. A thread that frees the line changes the word, fences (SeqCst), then looks at the bits. A thread
//!     that claims a line for a name changes that line's word, fences (SeqCst), then looks at the words of the other
//!     lines. So all holders of a topic hold the same line.

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
