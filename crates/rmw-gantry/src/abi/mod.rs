//! The C functions of `rmw`. Each function checks its arguments, calls an object of `entities`, and reports its
//! failure.
//!
//! The headers of `rmw` document the functions. The comments here state only what this library does differently.

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
