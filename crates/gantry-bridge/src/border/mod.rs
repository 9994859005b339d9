//! The border between a domain and a network: it decides which nodes a bridge shows on the other side.

mod claims;
mod crossings;
mod route;

pub use crossings::Border;
