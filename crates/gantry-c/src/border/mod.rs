//! The border between C and Rust: arguments, structs that begin with their size, descriptors, and failures, so that no
//! panic crosses the border.

pub(crate) mod argument;
pub(crate) mod event_fd;
pub(crate) mod failure;
pub(crate) mod sized;
