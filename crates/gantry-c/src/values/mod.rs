//! Values that C programs keep or read: loans, samples, lists, and conversions of small structs.

pub(crate) mod convert;
pub(crate) mod lists;
pub(crate) mod loan;
pub(crate) mod sample;
