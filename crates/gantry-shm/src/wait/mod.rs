//! Threads that wait for news: a line on the board, a bell, a bounded spin.

pub(crate) mod bell;
pub(crate) mod interrupt;
pub(crate) mod waiter;
