//! Publishers: loans, slots, memory, and discovery of readers.

pub(crate) mod discovery;
pub(crate) mod loan;
pub(crate) mod memory;
pub(crate) mod options;
pub(crate) mod publisher;
pub(crate) mod publisher_file;
pub(crate) mod returned_slots;
