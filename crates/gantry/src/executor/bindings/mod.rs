//! Support for language bindings that have executors of their own: a collector, and a thread that waits
//! with a collector.

mod collector;
mod listener;

pub use collector::Collector;
pub use listener::{Listener, ListenerSource};
