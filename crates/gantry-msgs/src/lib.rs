//! ROS 2's common interfaces and the benchmark messages, in place.
//!
//! For each package a module, in it `msg` and `srv`; messages also directly: `sensor_msgs::msg::Image` is
//! `sensor_msgs::Image`. For each message, as ROS 2 names it:
//!
//! - `Image`, the owned struct; for messages of numbers only, as `Point`, it is what lies in memory as well;
//! - `ImageView`, the message in place: a getter for each field, setters and `_mut` where the memory can be written;
//! - `ImageShape`, what must be known before it is built: texts, and lengths of sequences.
//!
//! ```
//! use gantry_msgs::{gantry_cdr::{AlignedBytes, Message}, sensor_msgs::{Image, ImageShape}, std_msgs::HeaderShape};
//!
//! # fn main() -> gantry_msgs::gantry_cdr::Result<()> {
//! let shape = ImageShape { header: HeaderShape { frame_id: "camera" }, encoding: "rgb8", data: 640 * 480 * 3 };
//! let mut image = Image::build(AlignedBytes::zeroed(Image::shape_bytes(shape)?), shape)?; // in place
//! image.set_width(640);
//! image.set_height(480);
//! image.data_mut().fill(0x7f);
//! assert_eq!(image.encoding(), "rgb8");
//!
//! let cdr = Image { width: 2, ..Image::default() }.to_cdr()?; // the copy path
//! assert_eq!(Image::from_cdr(&cdr)?.width, 2);
//! # Ok(()) }
//! ```
//!
//! The definitions are in `packages`; `packages-1.x` has performance_test's messages as they were before 1.5, in [`v1`]. All
//! code is written by `gantry-idl` at build time; a crate of one's own messages does the same with one call, see
//! [`gantry_idl::compile`](https://docs.rs/gantry-idl).

#![no_std]
#![forbid(unsafe_code)]

pub use gantry_cdr;

include!(concat!(env!("OUT_DIR"), "/messages.rs"));
include!(concat!(env!("OUT_DIR"), "/for_each_message.rs"));

/// performance_test's messages before 1.5: as many bytes as the name says, then time and id; and some that it has no more.
pub mod v1 {
    include!(concat!(env!("OUT_DIR"), "/messages_v1.rs"));
}

/// Compiles the README's programs.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
