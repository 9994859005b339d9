//! Tables: columns, and the tables of topics and nodes.

pub mod columns;
pub mod nodes;
pub mod topics;
