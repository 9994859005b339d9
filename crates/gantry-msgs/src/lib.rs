//! ROS 2's common interfaces and the benchmark messages, in place.
//!
//! Each package is a module with the modules `msg` and `srv`, as in ROS 2: `sensor_msgs::msg::Image`,
//! `std_srvs::srv::SetBool`. Each message has these types, here for `Image`:
//!
//! - `Image`, the owned struct. If a message has only numbers, as `Point` has, this struct is also the message
//!   in place;
//! - `ImageView`, the message in place, with a getter for each field, and with setters and `_mut` methods if its memory
//!   is writable;
//! - `ImageShape`, the texts and the lengths of sequences, which do not change after the message is built.
//!
//! ```
//! use gantry_msgs::{gantry_cdr::{AlignedBytes, Message}, sensor_msgs::msg::{Image, ImageShape}, std_msgs::msg::HeaderShape};
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
//! Each package is a feature; `all`, which is on by default, includes all of them. A program that needs only some
//! packages is built faster without the others.
//!
//! The definitions are in `packages`. [`v1`] has performance_test's messages from before its version 1.5, whose
//! definitions are in `packages-1.x`. `gantry-idl` writes all code at build time. A crate with messages of its own
//! does the same with one call, see [`gantry_idl::compile`](https://docs.rs/gantry-idl).

#![no_std]
#![forbid(unsafe_code)]

#[cfg(feature = "std")]
extern crate std;

#[cfg(feature = "builtin_interfaces")]
mod time;

pub use gantry_cdr;
#[cfg(feature = "builtin_interfaces")]
pub use time::NegativeDuration;

include!(concat!(env!("OUT_DIR"), "/messages.rs"));
include!(concat!(env!("OUT_DIR"), "/for_each_message.rs"));

/// performance_test's messages before 1.5. They have the number of bytes in their name, and then a time and an id.
/// Also the messages that 1.5 removed.
pub mod v1 {
    include!(concat!(env!("OUT_DIR"), "/messages_v1.rs"));
}

/// Compiles the README's programs.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
