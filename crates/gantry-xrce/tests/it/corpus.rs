//! Runs the corpora of the fuzz targets, and random changes of their inputs.

use test_support::xrce::{TARGETS, run_corpus};

#[test]
fn the_corpus_and_inputs_near_it_are_read_or_refused() {
    for (name, target) in TARGETS {
        run_corpus(name, *target, 100);
    }
}
