//! The border of the domain: it decides which nodes cross.

mod claims;
mod crossings;
mod way;

pub use crossings::Border;
