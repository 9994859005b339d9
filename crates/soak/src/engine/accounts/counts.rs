//! The counters of this process. A worker sends them to the coordinator as lines of text.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

macro_rules! counts {
    ($($count:ident: $name:literal),* $(,)?) => {
        /// The kinds of counts.
        #[derive(Clone, Copy, Debug)]
        pub enum Count { $($count),* }

        /// The labels in the table.
        pub const NAMES: &[&str] = &[$($name),*];

        /// The number of kinds.
        pub const KINDS: usize = [$(Count::$count),*].len();
    };
}

counts! {
    Published: "samples published",
    Checked: "samples checked",
    CheckedBytes: "bytes checked",
    Overwritten: "losses: overwritten",
    BeforeMatched: "losses: before matched",
    Histories: "histories of late joiners checked",
    Joins: "joins",
    Leaves: "leaves",
    Publishers: "publishers created",
    Subscriptions: "subscriptions created",
    Forks: "forks",
    ForkErrors: "forked children that got errors, as expected",
    Timeouts: "errors: PublishTimeout",
    OutOfMemory: "errors: OutOfMemory",
    NoRoom: "errors: NoRoom",
    RegistryBusy: "errors: RegistryBusy",
    LongestHoldMs: "longest hold, ms",
}

/// One number for each kind of count.
pub type Counts = [u64; KINDS];

static HERE: [AtomicU64; KINDS] = [const { AtomicU64::new(0) }; KINDS];

/// Adds `more` to a count.
pub fn count(what: Count, more: u64) {
    HERE[what as usize].fetch_add(more, Relaxed);
}

/// Counts a maximum.
pub fn count_longest_hold(ms: u64) {
    HERE[Count::LongestHoldMs as usize].fetch_max(ms, Relaxed);
}

/// The counts of this process since its start.
pub fn here() -> Counts {
    std::array::from_fn(|kind| HERE[kind].load(Relaxed))
}

/// Adds the counts of one process to the counts of all processes.
pub fn add(all: &mut Counts, one: &Counts) {
    for (kind, (all, one)) in all.iter_mut().zip(one).enumerate() {
        *all = if kind == Count::LongestHoldMs as usize { (*all).max(*one) } else { *all + one };
    }
}
