//! Fuzzes the file of another process, which publishers, subscriptions and the clean-up of dead processes read.

#![no_main]

use gantry_shm::fuzzing::Stage;
use std::sync::LazyLock;

static STAGE: LazyLock<Stage> = LazyLock::new(Stage::new);

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| STAGE.process(bytes));
