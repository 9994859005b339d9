//! The structs and functions of `include/perf_test_backend.h`, which documents them.
//!
//! A `bool` that C code writes has the type of a byte here, because C may store any value in it.
#![allow(missing_docs, reason = "the header documents each of them")]

mod backend;
mod message;
mod run;

pub use backend::{
    Backend, Capabilities, Create, CreateEnd, Destroy, ExecutorFunctions, MatchedFunctions, PublisherFunctions,
    ServiceEnd, Setting, SubscriptionFunctions,
};
pub use message::{Clock, Daemon, DeviceMemory, Error, Sent, Stamp, Taken};
pub use run::{Endpoint, Message, NameValue, Qos, Run};

/// `PERF_TEST_BACKEND_VERSION`.
pub const VERSION: u32 = 3;
