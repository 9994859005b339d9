//! Subscriptions: discovery of publishers, connections to them, and samples.

pub(crate) mod collector;
pub(crate) mod connection;
pub(crate) mod discovery;
pub(crate) mod gone;
pub(crate) mod owned_record;
pub(crate) mod sample;
pub(crate) mod subscription;
pub(crate) mod wait_set;
