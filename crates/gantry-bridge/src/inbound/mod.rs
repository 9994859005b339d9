//! The way of far samples to the domain.

mod inlet;
mod seen;

pub use inlet::{FarSample, Inlet};
