//! Messages whose names and texts are hard to write as Rust. The test is that they compile without a warning.

#![no_std]
#![forbid(unsafe_code)]
#![deny(warnings)]

include!(concat!(env!("OUT_DIR"), "/messages.rs"));
