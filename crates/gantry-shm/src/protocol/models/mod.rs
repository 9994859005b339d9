//! Models of the protocol: each runs the real `Writer`, `Reader`, `Roster`, `Ring`, `sleep` and `Futex` under loom,
//! which tries every interleaving and every value that a load may see, and reports data races on payloads and lost
//! wake-ups (deadlocks).
//!
//! `check` runs a model unchanged, which must pass. It also runs the model once for each ordering that the model shows
//! to be needed, with this ordering weakened, which must fail. `world` is the memory; `publisher` and `subscription`
//! are the steps around the protocol, as in `publish` and `subscribe`; each other file holds models of one subject. The
//! kernel and the files are also modelled: a mutex stands for the directory, with a flag whether the reader record is
//! visible, and a larger ring is ready from the start.
//!
//! Limits of loom: its SeqCst fences synchronise, which is more than C++20 promises, so a pair that relies on such a
//! fence alone would pass here. Loom also runs each thread's operations in order, so no load sees a store that comes
//! later (load buffering).

#![expect(clippy::unwrap_used, reason = "a model that cannot go on may say so by panicking")]

mod backpressure;
mod check;
mod growth;
mod inline;
mod join;
mod listing;
mod names;
mod orphan;
mod place;
mod publisher;
mod reclaim;
mod subscription;
mod wake;
mod world;

use crate::protocol::sync::Site;
use check::Model;

/// Declares all models, each as a test.
macro_rules! models {
    ($($(#[$attribute:meta])* $name:ident: $model:expr;)*) => {
        const MODELS: &[&Model] = &[$($model,)*];
        $($(#[$attribute])* #[test] fn $name() { check::verify($model); })*
    };
}
models! {
    reclaim_in_publish: &reclaim::IN_PUBLISH;
    line_is_reused_while_its_slot_is_held: &reclaim::LINE_REUSED;
    reclaim_in_loan: &reclaim::IN_LOAN;
    an_inline_sample_is_overwritten: &inline::OVERWRITTEN;
    the_wall_clock_is_set_twice: &inline::CLOCK_SET;
    inline_samples_and_slots_take_turns: &inline::MIXED;
    ring_grows_under_inline_samples: &inline::GROWTH;
    reader_joins_meanwhile: &join::JOIN;
    a_name_is_lost_while_a_reader_joins: &listing::NAME_LOST;
    ring_grows: &growth::GROWTH;
    reader_joins_while_ring_grows: &growth::JOIN;
    ring_grows_for_a_deeper_reader: &growth::DEEPER;
    gating_reader: &backpressure::GATE;
    gating_reader_joins_meanwhile: &backpressure::JOIN;
    idle_gating_reader_joins_meanwhile: &backpressure::JOIN_IDLE;
    one_publisher_wakes: &wake::ONE;
    two_publishers_wake: &wake::TWO;
    two_publishers_wake_a_shared_line: &wake::SHARED;
    joiner_wakes: &wake::JOINER;
    sender_wakes: &wake::SENDER;
    one_publisher_wakes_a_collector: &wake::COLLECT;
    two_publishers_wake_a_collector: &wake::COLLECT_TWO;
    a_publisher_wakes_a_collector_again: &wake::COLLECT_AGAIN;
    two_threads_share_a_collector: &wake::COLLECT_SHARED;
    the_end_reaches_all_that_share_a_collector: &wake::COLLECT_SHARED_END;
    record_outlives_its_connection: &orphan::RECORD;
    places_outlive_their_subscription: &orphan::PLACES;
    place_is_used_again: &place::USED_AGAIN;
    two_processes_hold_a_topic: &names::TWO;
    a_full_bucket_gets_a_free_line: &names::FULL;
}

/// Lists every [`Site`], with the reason if no model can show that it is needed. If a site is missing in this list, the
/// code does not compile.
macro_rules! sites {
    ($($site:ident $(: $hidden:literal)?,)*) => {
        const SITES: &[(Site, Option<&str>)] = &[$((Site::$site, [$(Some($hidden),)? None][0]),)*];
        const _: fn(Site) = |site| match site { $(Site::$site => (),)* };
    };
}
sites! {
    EntryStore,
    EntryLook,
    PublishFence,
    RetireFence,
    PinFence,
    DeadMark,
    GenerationLook,
    NewsFence,
    OutboxStore,
    SenderFence,
    SleepFence,
    RingsBeforeLook,
    RingCounts,
    ReadyFence,
    CollectFence,
    AsleepFence,
    HandOverFence,
    PinStore,
    Unpin,
    PinsLook,
    OverwriteMark,
    OverwriteFence,
    RecheckFence,
    Recheck,
    RenewedUnused,
    DescriptorStore,
    MovedStore,
    MovedMark,
    CursorStore: "With GateLook it forbids load buffering: the reader's look at an entry must not see the dead mark that the \
        publisher sets because it saw the cursor, which is stored after that look. Loom runs a thread in order. Memory is safe \
        without: the pin is set before the fence that precedes the look.",
    CursorAfterHold,
    CursorFence,
    BlockFence,
    PlaceEnd,
    PlaceLook,
    ReleaseFence,
    OrphanFence,
    HoldFence,
    ReleaseLineFence,
    EndFence,
    EndLook,
    ClaimFence,
    OpenLook,
    OpenFence,
    GateLook: "The other side of CursorStore.",
}

fn fail(mistakes: &[(&str, fn())], preemptions: Option<usize>) {
    for &(mistake, run) in mistakes {
        let why = check::failure(run, preemptions);
        assert!(why.is_some(), "the model passes although {mistake}");
    }
}

#[test]
fn mistakes_on_the_control_path_fail() {
    fail(join::MISTAKES, join::JOIN.preemptions);
}

#[test]
fn mistakes_with_lost_names_fail() {
    fail(listing::MISTAKES, listing::NAME_LOST.preemptions);
}

#[test]
#[should_panic(expected = "no failure that a weakened ordering causes: Arc leaked")]
fn a_failure_of_another_kind_proves_nothing() {
    let _ = check::failure(|| std::mem::forget(loom::sync::Arc::new(())), None);
}

#[test]
fn every_site_is_shown_or_explained() {
    for (site, hidden) in SITES {
        let shown = MODELS.iter().any(|model| model.needs.contains(site));
        assert!(shown != hidden.is_some(), "{site:?} must be needed by a model, or explained, and not both");
    }
}
