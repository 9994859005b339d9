//! Messages whose names and texts are hard to express in Rust. The test is that they compile without a warning.

#![no_std]
#![forbid(unsafe_code)]
#![deny(warnings)]

include!(concat!(env!("OUT_DIR"), "/messages.rs"));
