//! Tests that replay the inputs in `fuzz/corpus`, so that fixed faults do not return, and that also run some new random
//! inputs.

use super::{Stage, scribble};
use std::{
    path::Path,
    sync::{
        Once,
        atomic::{AtomicUsize, Ordering::Relaxed},
    },
};

/// The number of random inputs for each fuzz target.
const RANDOM: usize = 1000;
/// The number of random inputs for each slow target, which writes large files, or joins and leaves domains.
const RANDOM_SLOW: usize = 100;

/// A guard that prints the input if the test panics.
struct Blame(String);

impl Drop for Blame {
    fn drop(&mut self) {
        if std::thread::panicking() {
            eprintln!("the input is {}", self.0);
        }
    }
}

/// The number of control threads that have panicked. A panic of such a thread does not fail the test by itself.
fn silent_panics() -> usize {
    static PANICS: AtomicUsize = AtomicUsize::new(0);
    static COUNT: Once = Once::new();
    COUNT.call_once(|| {
        let report = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |panic| {
            PANICS.fetch_add(usize::from(std::thread::current().name() == Some("gantry-control")), Relaxed);
            report(panic);
        }));
    });
    PANICS.load(Relaxed)
}

fn replay(target: &str, count: usize, run: impl Fn(&[u8])) {
    let run = |bytes: &[u8], name: String| {
        let _blame = Blame(name);
        let before = silent_panics();
        run(bytes);
        assert_eq!(silent_panics(), before, "a control thread panicked");
    };
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/corpus").join(target);
    let mut paths: Vec<_> = std::fs::read_dir(&corpus).unwrap().map(|file| file.unwrap().path()).collect();
    assert!(!paths.is_empty(), "there is no corpus in {}", corpus.display());
    paths.sort();
    paths.iter().for_each(|path| run(&std::fs::read(path).unwrap(), path.display().to_string()));
    let mut random = random();
    for _ in 0..count {
        let bytes: Vec<u8> = (0..random.usize(..200)).map(|_| random.u8(..)).collect();
        run(&bytes, format!("{bytes:?}"));
    }
}

/// Creates the random generator. Prints its seed, which the environment variable `SEED` can set.
fn random() -> fastrand::Rng {
    let seed = std::env::var("SEED").map_or_else(|_| fastrand::u64(..), |seed| seed.parse().unwrap());
    eprintln!("SEED={seed}");
    fastrand::Rng::with_seed(seed)
}

#[test]
fn descriptions_are_read_or_refused() {
    let stage = Stage::new();
    replay("description", RANDOM, |bytes| stage.description(bytes));
}

#[test]
fn boards_are_used_or_refused() {
    let stage = Stage::new();
    replay("attach_board", RANDOM_SLOW, |bytes| stage.board(bytes));
}

#[test]
fn processes_are_looked_at_or_refused_and_reaped() {
    let stage = Stage::new();
    replay("attach_process", RANDOM, |bytes| stage.process(bytes));
}

#[test]
fn publishers_are_read_or_refused() {
    let stage = Stage::new();
    replay("attach_publisher", RANDOM, |bytes| stage.publisher(bytes));
}

#[test]
fn the_honest_are_safe_from_damaged_neighbours() {
    replay("scribble", RANDOM_SLOW, scribble);
}
