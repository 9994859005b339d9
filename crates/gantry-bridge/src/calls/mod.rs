//! Calls of services over the bridge.

mod caller;
mod sources;
mod stand_in;

pub use caller::{Call, Caller};
pub use sources::Sources;
pub use stand_in::StandIn;
