//! `libgantry`: the C ABI of [`gantry`]'s generic API. Bindings for C++ and other languages also use it.
//!
//! `include/gantry.h` is the documentation. No panic leaves the library: `failure` converts it to a status.
//!
//! # Promises of the header
//!
//! Every SAFETY comment names one of these promises.
//!
//! - **H1** A handle is NULL, or a pointer that a function of this library returned and that is not destroyed. Two
//!   threads use it at once only in functions whose documentation allows it.
//! - **H2** A pointer to a string, an array or a struct is NULL, or valid for its documented size until the call ends.
//!   Memory that a function writes is writable, and no other thread uses it.
//! - **H3** The struct of a loan or a sample is zeros, or a function of this library or of the library `owner` wrote
//!   it, and no function has ended the loan or sample since then. The struct may have moved in memory, but no second
//!   copy of it is in use. The library `owner` stays loaded as long as its loans and samples exist.
//! - **H4** A function pointer is NULL, or a function of the declared type that any thread may call. No exception and
//!   no `longjmp` leaves the function.

pub mod abi;
mod border;
mod entities;
mod node;
mod program;
mod values;
mod wait_set;

pub use values::loan::{Loan, LoanOwner};
pub use values::sample::{Sample, SampleOwner};

/// A part of H1, checked by the compiler: a handle may move to another thread, and several threads may use some handles
/// at once.
const _: () = {
    const fn may_move<T: Send>() {}
    const fn may_be_shared<T: Send + Sync>() {}
    may_be_shared::<node::Node>();
    may_be_shared::<entities::timer::Timer>();
    may_be_shared::<entities::guard_condition::GuardCondition>();
    may_move::<entities::publisher::Publisher>();
    may_move::<entities::subscription::Subscription>();
    may_move::<entities::service::Service>();
    may_move::<entities::client::Client>();
    may_move::<entities::events::Events>();
    may_move::<node::parameters::callbacks::ParameterCallback>();
    may_move::<wait_set::WaitSet>();
    may_move::<gantry::GenericLoan>();
    may_move::<values::sample::Message>();
};
