//! Tests of message types: with hand-made type supports, and with the type supports of a ROS 2 installation.

// The type support of each message initialises and finalises it.
#![allow(clippy::undocumented_unsafe_blocks, clippy::multiple_unsafe_ops_per_block)]

mod hand_made;
mod in_place;
mod library;
mod memory;
mod ros;
mod speed;
mod table;
