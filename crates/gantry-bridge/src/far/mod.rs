//! The nodes and endpoints of the network, as the domain sees them.

mod mismatch;
mod node;
mod nodes;

pub use mismatch::{hash_text, mismatch};
pub use node::FarNode;
pub use nodes::FarNodes;
