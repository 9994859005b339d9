//! Back ends of `perf_test` for the mechanisms that every middleware builds on, so that a table shows the limits of the
//! machine itself.
//!
//! | name | transport | history | waits |
//! | --- | --- | --- | --- |
//! | `memcpy` | a copy into shared memory and a copy out | KEEP_LAST | spin |
//! | `shm-futex` | the same memory, also written and read in place | KEEP_LAST | spin, futex |
//! | `pipe`, `unix-socket`, `tcp` | a stream from each publisher to each subscription | KEEP_ALL, reliable | spin, poll |
//! | `udp` | datagrams, into which a message is divided | KEEP_ALL, best effort | spin, poll |
//!
//! `adaptive` waits like `block`. A full ring loses its oldest message, even with RELIABLE. A publisher waits while
//! a stream is full. A datagram is lost if the receiver has no room for it.
//!
//! A message is the bytes of a struct with time, id and payload, as in [`perf_worker::raw`]. All messages of a
//! topic have the same size, so streams need no frames. Endpoints match if topic, size and quality of service are
//! the same.
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
