//! DDS-XRCE without I/O, clock or heap: the input is bytes and time, the output is bytes and events.
//!
//! The storeys (layers of modules), from the bottom: [`wire`] reads and writes messages, [`framing`] carries them
//! over byte streams and CAN-FD, [`stream`] puts them in order, [`session`] connects a client and an agent. No
//! storey imports from a higher one. [`time`] is the caller's clock.
//!
//! # Invariants
//! - Bytes are not trusted: a defect causes an error or a counted drop, never a panic.
//! - Nothing allocates, blocks or reads a clock. The caller provides all memory.

#![no_std]
#![forbid(unsafe_code)]

pub mod framing;
pub mod session;
pub mod stream;
pub mod time;
pub mod wire;
