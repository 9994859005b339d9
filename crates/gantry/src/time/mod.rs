//! Clocks and timers.

mod clock;
mod rate;
mod sample_clock;
mod timer;

pub use clock::{Clock, now};
pub(crate) use clock::{limit_ns, monotonic_ns, remaining};
pub use rate::Rate;
pub(crate) use sample_clock::SampleClock;
pub use timer::{Tick, Timer};
