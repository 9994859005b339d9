//! Points at which a test kills this process, to prove that other processes continue although a step is left
//! half done.
//!
//! The points exist with the feature `crash-points` only; otherwise [`point`] does nothing. There is a point after
//! each step that other processes can see (a store into shared memory, a system call on a shared file). The suite
//! `tests/crash` kills a child at every pass of every point, and fails if a point is never passed.

/// Declares the steps after which a test can kill the process.
macro_rules! points {
    ($($(#[$meta:meta])* $point:ident,)*) => {
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub(crate) enum Point { $($(#[$meta])* $point,)* }

        /// The names of all points, in the order of [`Point`].
        #[cfg(feature = "crash-points")]
        pub const POINTS: &[&str] = &[$(stringify!($point),)*];
    };
}

points! {
    // Files and directories.
    /// The directory of a user or of a domain was made.
    DirectoryMade,
    /// A file was made and has no name yet.
    FileMade,
    /// A file got more pages.
    FileGrown,
    /// A file got its name.
    FileNamed,
    /// A file lost its name.
    FileUnlinked,
    /// An empty directory was removed.
    DirectoryRemoved,

    // The board.
    /// The header of a new board's file is written.
    BoardWritten,
    /// The registry lock was taken.
    RegistryLocked,
    /// The registry lock is about to be released.
    RegistryUnlocks,
    /// The board's count of joins, leaves and reaped processes was raised.
    ProcessesChanged,
    /// A topic line of the board is claimed for a topic.
    TopicClaimed,
    /// A claimed topic line has its name, or is free again.
    TopicSettled,
    /// A topic line is about to be freed.
    TopicEnding,
    /// A topic line was freed, or is held again.
    TopicEnded,
    /// A topic's generation was raised.
    GenerationRaised,
    /// A waiter was woken, perhaps one of several: its bell was rung if it sleeps.
    WaiterRung,
    /// The bit of a topic with news was set in a collector's line of the board.
    ReadySet,
    /// A sleeping waiter was marked as awake and is not rung yet.
    SleeperClaimed,
    /// The state "asleep" was stored in a collector's line of the board.
    CollectorAsleep,
    /// The state "asleep" was stored in a collector's line for another thread that sleeps, and the storing thread has
    /// not checked the bits again yet.
    CollectorHandedOver,
    /// A waiter line was taken.
    WaiterTaken,
    /// The waiter lines that will be freed were removed from the sets of all topics.
    WaitersWithdrawn,
    /// A waiter line was freed, perhaps one of several.
    WaiterFreed,
    /// A waiter entered the sleepers of a topic.
    SleeperEntered,
    /// A waiter left the sleepers of a topic.
    SleeperLeft,

    // A process's file.
    /// A new process file is locked.
    ProcessLocked,
    /// The header of a new process file is written.
    ProcessWritten,
    /// A block's header is written and not yet part of the file's contents.
    BlockWritten,
    /// A block is part of the file's contents.
    BlockAdded,
    /// An endpoint's description is being written.
    EndpointOpened,
    /// An endpoint's description is written or removed.
    EndpointClosed,
    /// A reader record is filled, except its key.
    RecordFilled,
    /// A reader record has its key.
    RecordTaken,
    /// The state "left" was stored in a reader record: its subscription is gone.
    RecordLeft,
    /// A reader record is free.
    RecordFreed,

    // A publisher.
    /// The header of a new publisher's file is written.
    PublisherWritten,
    /// A slot is on loan.
    SlotLoaned,
    /// A slot's header is written.
    SlotWritten,
    /// The previous sample of a ring entry is marked dead, because the entry is about to be overwritten.
    EntryOverwritten,
    /// An entry of the ring is written, except its state word.
    EntryWritten,
    /// A ring entry has a new sample that readers can take.
    EntryAlive,
    /// A ring entry was marked dead, because its sample leaves the history.
    EntryDead,
    /// The header's hint of the oldest living sequence was stored.
    TailStored,
    /// Entry and dead marks are written, and the SeqCst fence before the following loads has passed.
    PublishFenced,
    /// The sequence of a recent sample was stored as the head in the publisher's header.
    HeadStored,
    /// The pins of the readers were read.
    PinsRead,
    /// Slots without pins were reclaimed.
    Reclaimed,
    /// A larger ring is filled.
    RingFilled,
    /// The location of the larger ring was stored in the header.
    RingNamed,
    /// An entry of the old ring was marked as MOVED, so its readers change to the new ring.
    EntryMoved,
    /// The depth granted to readers was stored, but not yet the generation that the publisher has seen.
    DepthGranted,
    /// The newest reader generation that the publisher has read was stored.
    GenerationSeen,
    /// The word that marks the publisher as blocked was stored.
    BlockedSet,
    /// The state "left" was stored in the publisher's header.
    PublisherLeft,

    // A subscription.
    /// A reader record's cursor was set to the first sequence of the subscription.
    StartChosen,
    /// A sequence is pinned in a reader record.
    Pinned,
    /// The cursor of a reader record was advanced past a sample.
    CursorStored,
    /// A held sample is about to be released.
    SampleDrops,
    /// A pin of a reader record was cleared.
    Unpinned,
}

/// Kills the process if `arm` chose this pass of this point.
#[cfg(not(feature = "crash-points"))]
#[inline(always)]
pub(crate) fn point(_: Point) {}

#[cfg(feature = "crash-points")]
pub(crate) use armed::point;
#[cfg(feature = "crash-points")]
pub use armed::{arm, passes};

#[cfg(feature = "crash-points")]
mod armed {
    use super::{POINTS, Point};
    use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering::*};

    /// The number of times that each point was passed.
    static PASSES: [AtomicU64; POINTS.len()] = [const { AtomicU64::new(0) }; POINTS.len()];
    /// The point at which the process dies; `FATAL_PASS` is the number of the pass.
    static FATAL_POINT: AtomicUsize = AtomicUsize::new(usize::MAX);
    static FATAL_PASS: AtomicU64 = AtomicU64::new(0);

    pub(crate) fn point(point: Point) {
        let pass = PASSES[point as usize].fetch_add(1, SeqCst) + 1;
        if FATAL_POINT.load(SeqCst) == point as usize && pass == FATAL_PASS.load(SeqCst) {
            // Ends the process as `kill -9` does: at once, in all threads.
            let _ = rustix::process::kill_process(rustix::process::getpid(), rustix::process::Signal::KILL);
            loop {
                std::hint::spin_loop();
            }
        }
    }

    /// Kills this process when it passes the crash point `POINTS[index]` for the `pass`th time (from 1) since
    /// its start.
    pub fn arm(index: usize, pass: u64) {
        FATAL_PASS.store(pass, SeqCst);
        FATAL_POINT.store(index, SeqCst);
    }

    /// The number of times that each of [`POINTS`] was passed since this process started.
    #[must_use]
    pub fn passes() -> Vec<u64> {
        PASSES.iter().map(|passes| passes.load(SeqCst)).collect()
    }
}
