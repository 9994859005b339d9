//! Runs a fuzz target on all inputs of `fuzz/corpus`, and on randomly changed copies of them.

use super::Target;
use fastrand::Rng;
use std::path::Path;

/// Runs a target on its inputs in the corpus, and on `damaged` changed copies of each input.
pub fn run_corpus(name: &str, target: Target, damaged: usize) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/corpus").join(name);
    let mut inputs = 0;
    for entry in std::fs::read_dir(&folder).unwrap() {
        let path = entry.unwrap().path();
        let input = std::fs::read(&path).unwrap();
        target(&input);
        let mut rng = Rng::new();
        for _ in 0..damaged {
            let seed = rng.get_seed();
            let damaged = damage(&input, &mut rng);
            let outcome = std::panic::catch_unwind(|| target(&damaged));
            assert!(outcome.is_ok(), "{name}: {} damaged with the seed {seed:#x}", path.display());
        }
        inputs += 1;
    }
    assert!(inputs > 0, "{} is empty", folder.display());
}

fn damage(input: &[u8], rng: &mut Rng) -> Vec<u8> {
    let mut damaged = input.to_vec();
    for _ in 0..rng.usize(1..4) {
        let at = rng.usize(..=damaged.len());
        match rng.u8(..3) {
            0 => damaged.insert(at, rng.u8(..)),
            1 => damaged.truncate(damaged.len().max(1) - 1),
            _ => damaged.iter_mut().skip(at).take(1).for_each(|byte| *byte = rng.u8(..)),
        }
    }
    damaged
}
