//! Tests of message types, with hand-made type supports and with the type supports of an installed ROS 2.

// Each message is initialised and finalised by its own type support, so the unsafe calls have no SAFETY comments.
#![allow(clippy::undocumented_unsafe_blocks, clippy::multiple_unsafe_ops_per_block)]

mod hand_made;
mod in_place;
mod library;
mod memory;
mod ros;
mod speed;
mod table;
