//! `libgantry`: the C ABI of the generic API of [`gantry`], which C++ and other languages use, too.
//!
//! `include/gantry.h` is the documentation. No panic leaves the library: `failure` converts each one to a status.
//!
//! # Promises of the header
//!
//! Every SAFETY comment names one of these promises.
//!
//! - **H1** A handle is NULL, or a pointer that a function of this library returned and that was not destroyed. No
//!   two threads use it at once, except in functions whose documentation allows it.
//! - **H2** A pointer to a text, an array or a struct is NULL, or valid to its documented end until the end of the
//!   call. Memory that a function writes is writable, and no other thread uses it.
//! - **H3** A loan or a sample is zeros, or it was written by a function of this library, or of the library that
//!   is its `owner`, and no function has ended it since then. It may have moved in memory, but no second copy of
//!   it is in use. An owner and its functions stay loaded as long as the loans and samples of that library.
//! - **H4** A function pointer is NULL, or a function of the declared type that may be called on any thread. No
//!   exception and no `longjmp` leaves the function.

pub mod abi;
mod argument;
mod client;
mod convert;
mod event_fd;
mod events;
mod failure;
mod graph;
mod guard_condition;
mod lists;
mod loan;
mod node;
mod program;
mod publisher;
mod sample;
mod service;
mod subscription;
mod timer;
mod wait_set;

pub use loan::{Loan, LoanOwner};
pub use sample::{Sample, SampleOwner};

/// Checks H1: a handle may go to another thread, and some handles may be used by several threads at once.
const _: () = {
    const fn may_move<T: Send>() {}
    const fn may_be_shared<T: Send + Sync>() {}
    may_be_shared::<node::Node>();
    may_be_shared::<timer::Timer>();
    may_be_shared::<guard_condition::GuardCondition>();
    may_move::<publisher::Publisher>();
    may_move::<subscription::Subscription>();
    may_move::<service::Service>();
    may_move::<client::Client>();
    may_move::<events::Events>();
    may_move::<wait_set::WaitSet>();
    may_move::<gantry::GenericLoan>();
    may_move::<sample::Message>();
};
