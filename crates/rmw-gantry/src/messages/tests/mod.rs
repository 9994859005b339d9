//! Tests of message types: by hand-made type supports, and by those of a ROS 2.

// Each message is made by its own type support.
#![allow(clippy::undocumented_unsafe_blocks, clippy::multiple_unsafe_ops_per_block)]

mod hand_made;
mod library;
mod memory;
mod ros;
mod speed;
mod table;
