//! The plain values that describe a run and a middleware.

pub mod capabilities;
pub mod daemon;
pub mod description;
pub mod matching;
pub mod message;
pub mod qos;
pub mod threshold;
pub mod ways;
