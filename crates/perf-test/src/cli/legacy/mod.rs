//! The command line of older performance_test versions: their spellings of options, and the options that only they had.

pub mod options;
pub mod resolve;
pub mod spelling;
pub mod verbs;
