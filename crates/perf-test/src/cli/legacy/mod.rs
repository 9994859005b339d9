//! The heritage of performance_test's generations: their option names, and the options that only they had.

pub mod options;
pub mod resolve;
pub mod spelling;
pub mod verbs;
