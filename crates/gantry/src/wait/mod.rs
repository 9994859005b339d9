//! Waiting and taking: the traits that wait sets, futures and executors stand on.

mod take_future;
mod waitable;

pub use take_future::TakeFuture;
pub use waitable::{TakeSource, Waitable};
