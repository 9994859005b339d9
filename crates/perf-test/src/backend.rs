//! The back ends that are part of this program: Gantry's, and in unit tests the mock. All other middlewares are worker
//! programs.

#[cfg(test)]
#[path = "../tests/programs/mock/mod.rs"]
pub mod mock;

use perf_worker::backend::Backend;

/// The back ends in this program. If a separate worker program such as `perf_test_gantry` is installed, workers run it
/// instead of this program: the memory of workers is measured, and this larger program would add its own pages.
#[cfg(not(test))]
pub const BUILT_IN: [&dyn Backend; 1] = [&perf_worker_gantry::Gantry];
/// The back ends in unit tests. The mock is one of them, because unit tests have no worker program for it.
#[cfg(test)]
pub const BUILT_IN: [&dyn Backend; 2] = [&perf_worker_gantry::Gantry, &mock::Mock];
