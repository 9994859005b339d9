//! Fuzzes the board, the shared file of a domain with wake-up hints.

#![no_main]

use gantry_shm::fuzzing::Stage;
use std::sync::LazyLock;

static STAGE: LazyLock<Stage> = LazyLock::new(Stage::new);

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| STAGE.board(bytes));
