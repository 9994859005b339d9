//! Threads that wait for news: each has a line on the board, a bell, and a bounded spin.

pub(crate) mod bell;
pub(crate) mod interrupt;
pub(crate) mod sleeper;
pub(crate) mod waiter;
