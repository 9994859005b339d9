//! This process among others: membership in a domain, the board, discovery's thread, and the removal of what the dead left.

pub(crate) mod board;
pub(crate) mod control;
#[expect(clippy::module_inception, reason = "the storey and its main noun are both the domain")]
pub(crate) mod domain;
pub(crate) mod holder;
pub(crate) mod liveness;
pub(crate) mod participant;
pub(crate) mod peer;
pub(crate) mod process_file;
pub(crate) mod reaper;
pub(crate) mod registry;
pub(crate) mod sender;
