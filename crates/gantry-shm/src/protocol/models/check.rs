//! The runner of models. It runs each model unchanged, and with one ordering weakened. Loom runs all threads of a model
//! on the thread that checks it, so the weakened site is a thread-local, and tests can run in parallel.

use crate::protocol::sync::{Site, WEAKENED};
use std::{
    cell::Cell,
    panic::{AssertUnwindSafe, catch_unwind, set_hook, take_hook},
    sync::{
        Arc, Once,
        atomic::{AtomicU64, Ordering::Relaxed},
    },
    time::Instant,
};

/// A model.
pub(super) struct Model {
    /// The steps of the model, which run once for each interleaving.
    pub(super) run: fn(),
    /// The largest number of preemptions in an interleaving that is tried; `None`: all interleavings. Overridden by
    /// `LOOM_MAX_PREEMPTIONS`.
    pub(super) preemptions: Option<usize>,
    /// The sites whose weakening, each by itself, makes the model fail.
    pub(super) needs: &'static [Site],
}

thread_local! {
    /// Whether this thread runs a model that is expected to fail, so that its panic is not printed.
    static QUIET: Cell<bool> = const { Cell::new(false) };
    /// Whether the last panic that was not printed is a failed assertion of a model.
    static IS_OF_MODEL: Cell<bool> = const { Cell::new(false) };
}

/// Asserts that the model passes unchanged, and fails when any one of its sites is weakened.
pub(super) fn verify(model: &Model) {
    let start = Instant::now();
    let runs = explore(model.run, model.preemptions);
    eprintln!("passes in {runs} runs, {:?}", start.elapsed());
    for &site in model.needs {
        WEAKENED.set(Some(site));
        let why = failure(model.run, model.preemptions);
        WEAKENED.set(None);
        match why {
            Some(why) => eprintln!("{site:?} weakened: {}", why.lines().next().unwrap_or_default()),
            None => panic!("the model passes with {site:?} weakened"),
        }
    }
}

/// Runs all interleavings, and returns their number.
fn explore(run: fn(), preemptions: Option<usize>) -> u64 {
    let mut builder = loom::model::Builder::new();
    builder.max_branches = 100_000;
    builder.preemption_bound = builder.preemption_bound.or(preemptions); // `LOOM_MAX_PREEMPTIONS` has precedence
    let runs = Arc::new(AtomicU64::new(0));
    let count = runs.clone();
    builder.check(move || {
        count.fetch_add(1, Relaxed);
        run();
    });
    runs.load(Relaxed)
}

/// The failed assertion, data race or deadlock of a model that is expected to fail; `None` if it passes.
/// Interleavings with few preemptions are tried first: most failures need no more than two, and their interleavings
/// are a small part of all.
pub(super) fn failure(run: fn(), preemptions: Option<usize>) -> Option<String> {
    let fewer = 1..preemptions.unwrap_or(3);
    fewer.map(Some).chain([preemptions]).find_map(|most| failure_within(run, most))
}

fn failure_within(run: fn(), preemptions: Option<usize>) -> Option<String> {
    static HOOK: Once = Once::new();
    HOOK.call_once(|| {
        let usual = take_hook();
        set_hook(Box::new(move |panic| {
            if QUIET.get() {
                IS_OF_MODEL.set(panic.location().is_some_and(|location| location.file().contains("protocol/models/")));
            } else {
                usual(panic);
            }
        }));
    });
    QUIET.set(true);
    let outcome = catch_unwind(AssertUnwindSafe(|| explore(run, preemptions)));
    QUIET.set(false);
    let panic = outcome.err()?;
    let text = panic.downcast_ref::<String>().cloned();
    let text = text.or_else(|| panic.downcast_ref::<&str>().map(|text| text.to_string())).unwrap_or_default();
    // Any other panic, such as an overflow or too many branches, is a fault of the model or of the protocol.
    let is_of_loom = ["Causality violation", "deadlock"].iter().any(|kind| text.trim_start().starts_with(kind));
    assert!(is_of_loom || IS_OF_MODEL.get(), "no failure that a weakened ordering causes: {text}");
    Some(text)
}
