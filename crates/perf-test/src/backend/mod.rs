//! The middlewares that come with the tool: Gantry, and a mock with the faults of a script.

pub mod gantry;
pub mod mock;

use perf_worker::backend::Backend;

/// All of them.
pub const BUILT_IN: [&dyn Backend; 2] = [&gantry::Gantry, &mock::Mock];

/// Those whose workers are this program. Gantry's are `perf_test_gantry`, since their memory is a figure: it would hold
/// pages of this program's other parts.
pub const IN_THIS_PROGRAM: [&dyn Backend; 1] = [&mock::Mock];
