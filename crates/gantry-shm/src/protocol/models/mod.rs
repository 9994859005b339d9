//! Models of the protocol under loom.
