//! Parts for bindings that have executors of their own: a collector, and a thread that waits with one.

mod collector;
mod listener;

pub use collector::Collector;
pub use listener::{Listener, ListenerSource};
