//! Messages whose names and texts are hard to write as Rust. That they are compiled, without a warning, is a test.

#![no_std]
#![forbid(unsafe_code)]
#![deny(warnings)]

include!(concat!(env!("OUT_DIR"), "/messages.rs"));
