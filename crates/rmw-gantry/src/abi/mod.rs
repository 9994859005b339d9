//! The C functions of `rmw`, one noun in each file. Each function checks its arguments, calls an entity and
//! reports the failure.
//!
//! The headers of `rmw` document the functions; the comments here state only the differences.

mod client;
mod content_filter;
mod context;
mod event;
mod graph;
mod guard_condition;
mod implementation;
mod in_place;
mod init_options;
mod loan;
mod node;
mod publisher;
mod serialization;
mod service;
mod subscription;
mod take;
mod unsupported;
mod wait;
