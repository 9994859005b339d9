//! The samples of the run: topics with their QoS, contents, and the check of what a subscription takes.

pub mod checker;
pub mod message;
pub mod topic;
