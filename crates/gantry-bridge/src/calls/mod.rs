//! Calls of services over the bridge.

mod caller;
mod queue;
mod sources;
mod stand_in;

pub use caller::{Call, Caller};
pub use queue::{Calls, MAX_WAIT, Sent};
pub use sources::Sources;
pub use stand_in::StandIn;
