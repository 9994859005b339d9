//! What this process did, counted; workers report it to the coordinator line by line.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

macro_rules! counts {
    ($($count:ident: $name:literal),* $(,)?) => {
        /// What is counted.
        #[derive(Clone, Copy, Debug)]
        pub enum Count { $($count),* }

        /// How the table calls it.
        pub const NAMES: &[&str] = &[$($name),*];

        /// How many kinds there are.
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
    Publishers: "publishers made",
    Subscriptions: "subscriptions made",
    Forks: "forks",
    ForkErrors: "forked children that got errors, as they should",
    Timeouts: "errors: PublishTimeout",
    OutOfMemory: "errors: OutOfMemory",
    NoRoom: "errors: NoRoom",
    RegistryBusy: "errors: RegistryBusy",
    LongestHoldMs: "longest hold, ms",
}

/// All of them.
pub type Counts = [u64; KINDS];

static HERE: [AtomicU64; KINDS] = [const { AtomicU64::new(0) }; KINDS];

/// Counts so many.
pub fn count(what: Count, more: u64) {
    HERE[what as usize].fetch_add(more, Relaxed);
}

/// Counts a maximum.
pub fn count_longest_hold(ms: u64) {
    HERE[Count::LongestHoldMs as usize].fetch_max(ms, Relaxed);
}

/// What this process counted so far.
pub fn here() -> Counts {
    std::array::from_fn(|kind| HERE[kind].load(Relaxed))
}

/// Adds what one process counted to what all did.
pub fn add(all: &mut Counts, one: &Counts) {
    for (kind, (all, one)) in all.iter_mut().zip(one).enumerate() {
        *all = if kind == Count::LongestHoldMs as usize { (*all).max(*one) } else { *all + one };
    }
}
