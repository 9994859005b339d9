//! The traits of sources that can be waited for and taken from. Wait sets, futures and executors are built on these
//! traits.

mod guard_condition;
mod take_future;
mod waitable;

pub(crate) use crate::lock::{lock, try_lock};
pub use guard_condition::GuardCondition;
pub use take_future::TakeFuture;
pub(crate) use waitable::WaitSource;
pub use waitable::{TakeSource, Waitable};
