//! Tests of message types: by hand-made type supports, and by those of a ROS 2.

#![allow(clippy::undocumented_unsafe_blocks, clippy::multiple_unsafe_ops_per_block)] // each message is made by its own type support

mod hand_made;
mod library;
mod memory;
mod ros;
mod speed;
mod table;
