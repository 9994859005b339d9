//! The C ABI of `perf_worker`: a back end that is written in C or C++ is measured by the loops of `perf_test`.
//!
//! `include/perf_test_backend.h` is the documentation. A C program links the archive `libperf_worker_c.a` and calls
//! `perf_test_worker_main`; this crate is a [`Backend`](perf_worker::backend::Backend) on top of the functions that the
//! program passes.
//!
//! A panic does not cross the boundary: the functions here are `extern "C"`, which abort the process with the
//! panic's message.
//!
//! # Promises of the header
//!
//! Every SAFETY comment names one of these.
//!
//! - **H1** A function pointer is NULL or a function of the declared type, and no exception and no `longjmp` leaves
//!   it.
//! - **H2** A pointer from C is NULL, or valid for reads of its type, a string or an array to its documented end,
//!   until the end of the call; the back end itself, with all that it points to, until the end of the process.
//! - **H3** Functions of the back end and of a session may be called on any thread, also at the same time. An
//!   endpoint stays on the thread that created it. An executor's functions may be called on any thread, and so may
//!   the functions of its endpoints, but only one function of an endpoint at a time. The functions `stop` of the
//!   executor and `overwritten` of its endpoints may also run beside others.
//! - **H4** C uses a pointer from here only until its documented end, and passes it back unchanged.

pub mod abi;
mod backend;
mod description;
mod endpoints;
mod executor;
mod exports;
mod failure;
mod opaque;
mod open;
mod run;
mod session;
mod taken;
#[cfg(test)]
mod tests;
mod text;

pub use exports::perf_test_worker_main;
