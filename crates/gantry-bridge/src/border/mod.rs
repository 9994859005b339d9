//! The border of the domain: the nodes that cross it.

mod claims;
mod crossings;
mod way;

pub use crossings::Border;
