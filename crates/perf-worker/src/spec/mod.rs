//! The plain values of which a run and the description of a middleware are made.

pub mod capabilities;
pub mod daemon;
pub mod description;
pub mod matching;
pub mod message;
pub mod qos;
pub mod threshold;
pub mod ways;
