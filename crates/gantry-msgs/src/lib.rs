//! The messages of ROS 2's common interfaces and of benchmarks, which are viewed and built in place.
//!
//! Each package is a module with the modules `msg` and `srv`, as in ROS 2: `sensor_msgs::msg::Image`,
//! `std_srvs::srv::SetBool`. For each message there are these types, here for `Image`:
//!
//! - `Image`, the owned struct. If a message has only numbers, such as `Point`, the struct is also the view of the
//!   message;
//! - `ImageView`, the view of a message in place. It has a getter for each field. If its memory is writable, it also
//!   has setters and `_mut` methods;
//! - `ImageShape`, which has the texts and the lengths of sequences. These are fixed when the message is built.
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
//! Each package is a feature. The feature `all`, which is on by default, includes all packages. A program that needs
//! only some packages is built faster without `all`.
//!
//! The definitions are in `packages`. [`v1`] has performance_test's messages from before its version 1.5; their
//! definitions are in `packages-1.x`. `gantry-idl` generates all code at build time. A crate with its own messages
//! generates its code by a single call of [`gantry_idl::compile`](https://docs.rs/gantry-idl).

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

/// performance_test's messages from before its version 1.5, including messages that 1.5 removed. Their names contain
/// the number of bytes, and they have a time and an id after their data.
pub mod v1 {
    include!(concat!(env!("OUT_DIR"), "/messages_v1.rs"));
}

/// Compiles the programs in the README as documentation tests.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
