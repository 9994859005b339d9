//! Runs every input of `fuzz/corpus`, and random changes of these inputs.

use fastrand::Rng;
use std::path::Path;
use test_support::messages::TARGETS;

#[test]
fn the_corpus_and_inputs_near_it_are_read_or_refused() {
    for (name, target) in TARGETS {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/corpus").join(name);
        let mut inputs = 0;
        for entry in std::fs::read_dir(&folder).unwrap() {
            let path = entry.unwrap().path();
            let input = std::fs::read(&path).unwrap();
            target(&input);
            let mut rng = Rng::new();
            for _ in 0..100 {
                let seed = rng.get_seed();
                let mut damaged = input.clone();
                for _ in 0..rng.usize(1..4) {
                    let at = rng.usize(..=damaged.len());
                    match rng.u8(..3) {
                        0 => damaged.insert(at, rng.u8(..)),
                        1 => damaged.truncate(damaged.len().max(1) - 1),
                        _ => damaged.iter_mut().skip(at).take(1).for_each(|byte| *byte = rng.u8(..)),
                    }
                }
                let outcome = std::panic::catch_unwind(|| target(&damaged));
                assert!(outcome.is_ok(), "{name}: {} damaged with the seed {seed:#x}", path.display());
            }
            inputs += 1;
        }
        assert!(inputs > 0, "{} is empty", folder.display());
    }
}
