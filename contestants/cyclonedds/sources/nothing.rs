//! Nothing: cargo asks each package for a target.
