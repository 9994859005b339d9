//! The middlewares in this program: Gantry, and a mock with the faults of a script.

pub mod gantry;
pub mod mock;

use perf_worker::backend::Backend;

/// All of them.
pub const BUILT_IN: [&dyn Backend; 2] = [&gantry::Gantry, &mock::Mock];
