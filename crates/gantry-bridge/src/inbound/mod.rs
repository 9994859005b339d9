//! Samples from the network to the domain.

mod inlet;
mod seen;

pub use inlet::{FarSample, Inlet};
