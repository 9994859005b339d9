//! Gantry's shared-memory engine (being written).
pub mod qos;
pub use qos::{Durability, History, Liveliness, Qos, Reliability};
