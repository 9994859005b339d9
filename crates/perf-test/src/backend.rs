//! The middleware that comes with the tool: Gantry. All others, and the mock, are worker programs.

#[cfg(test)]
#[path = "../tests/programs/mock/mod.rs"]
pub mod mock;

use perf_worker::backend::Backend;

/// The back ends in this program. Workers are started from the small worker program beside this one, if it is there:
/// the memory of workers is measured, and workers that run this program would also have the coordinator's pages.
#[cfg(not(test))]
pub const BUILT_IN: [&dyn Backend; 1] = [&perf_worker_gantry::Gantry];
/// The back ends in a program of unit tests, beside which there is no worker program of the mock.
#[cfg(test)]
pub const BUILT_IN: [&dyn Backend; 2] = [&perf_worker_gantry::Gantry, &mock::Mock];
