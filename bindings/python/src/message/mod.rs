//! Messages in shared memory: their definitions, their fields as Python sees them, and the memory that stays alive.

pub mod encode;
pub mod field;
pub mod holder;
pub mod memory;
pub mod number;
pub mod schema;
pub mod types;
pub mod values;
pub mod view;
