//! An empty target: cargo requires at least one target in each package.
