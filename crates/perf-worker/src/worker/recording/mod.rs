//! Recorders of samples: they measure latencies, losses and order until no more samples arrive.

pub mod drain;
pub mod publisher_watch;
pub mod sample_recorder;
pub mod shared_recorder;
pub mod sources;
