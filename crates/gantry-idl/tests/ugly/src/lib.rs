//! Messages whose names and texts are hard to express in Rust. The test is that their generated code compiles without a
//! warning.

#![no_std]
#![forbid(unsafe_code)]
#![deny(warnings)]

include!(concat!(env!("OUT_DIR"), "/messages.rs"));
