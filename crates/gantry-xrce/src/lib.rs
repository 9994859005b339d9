//! DDS-XRCE without I/O, clock or heap: bytes and time in, bytes and events out.
//!
//! The storeys, from the bottom: [`wire`] reads and writes messages, [`framing`] carries them over byte streams and
//! CAN-FD, [`stream`] puts them in order, [`session`] connects a client and an agent. None of them knows a later one.
//! [`time`] is the caller's clock.
//!
//! # Invariants
//! - Bytes are not trusted: a defect is an error or a counted drop, never a panic.
//! - Nothing allocates, blocks or reads a clock. Memory is the caller's.

#![no_std]
#![forbid(unsafe_code)]

pub mod framing;
pub mod session;
pub mod stream;
pub mod time;
pub mod wire;
