//! Sources that can be waited for and taken from: the traits on which wait sets, futures and executors are built.

mod guard_condition;
mod take_future;
mod waitable;

pub(crate) use crate::lock::{lock, try_lock};
pub use guard_condition::GuardCondition;
pub use take_future::TakeFuture;
pub(crate) use waitable::WaitSource;
pub use waitable::{TakeSource, Waitable};
