//! Runs: one run of endpoints or of a topology, and the short runs that check a middleware.

pub mod check;
pub mod coordinator;
pub mod runner;
pub mod topology;
