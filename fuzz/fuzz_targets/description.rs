//! Fuzzes the serialised descriptions of endpoints.

#![no_main]

use gantry_shm::fuzzing::Stage;
use std::sync::LazyLock;

static STAGE: LazyLock<Stage> = LazyLock::new(Stage::new);

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| STAGE.description(bytes));
