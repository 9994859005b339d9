//! Back ends of `perf_test` for the means that every middleware builds on, so that a table shows what the machine
//! itself can do.
//!
//! | name | transport | history | waits |
//! | --- | --- | --- | --- |
//! | `memcpy` | a copy into shared memory and a copy out | KEEP_LAST | spin |
//! | `shm-futex` | the same memory, also written and read in place | KEEP_LAST | spin, futex |
//! | `pipe`, `unix-socket`, `tcp` | a stream from each publisher to each subscription | KEEP_ALL, reliable | spin, poll |
//! | `udp` | datagrams, into which a message is divided | KEEP_ALL, best effort | spin, poll |
//!
//! `adaptive` waits like `block`. A ring that is full loses its oldest message, also when it is RELIABLE. A publisher
//! waits while a stream is full. A datagram for which the receiver has no room is lost.
//!
//! A message is a struct's bytes: time, id and payload as in [`perf_worker::raw`]. All messages of a topic have the
//! same size, so streams need no frames. Endpoints match if topic, size and quality of service are the same.
//!
//! ```text
//! baseline ─► ring, stream, udp ─► announcement, message
//!              └► memory ─► mapping (all unsafe code)
//! ```
#![deny(unsafe_code)]

mod announcement;
mod baseline;
mod message;
mod ring;
mod stream;
mod udp;
mod wait;

pub use baseline::{Baseline, MEMCPY, PIPE, SHM_FUTEX, TCP, UDP, UNIX_SOCKET};
