//! The middlewares that come with the tool: Gantry, and a mock with the faults of a script.

pub mod gantry;
pub mod mock;

use perf_worker::backend::Backend;

/// All of them.
pub const BUILT_IN: [&dyn Backend; 2] = [&gantry::Gantry, &mock::Mock];

/// Those whose workers are a small program beside this one, as long as it is there, since their memory is a figure: in
/// this program it would hold pages of the other parts.
pub const HAVE_A_PROGRAM: [&dyn Backend; 1] = [&gantry::Gantry];
