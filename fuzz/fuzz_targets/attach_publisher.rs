//! Fuzzes the file of another process's publisher, from which a subscription takes.

#![no_main]

use gantry_shm::fuzzing::Stage;
use std::sync::LazyLock;

static STAGE: LazyLock<Stage> = LazyLock::new(Stage::new);

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| STAGE.publisher(bytes));
