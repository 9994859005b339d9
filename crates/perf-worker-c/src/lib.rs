//! The C ABI of `perf_worker`. With it, the loops of `perf_test` measure a back end in C or C++.
//!
//! `include/perf_test_backend.h` is the documentation. A C program links the archive `libperf_worker_c.a` and calls
//! `perf_test_worker_main` with a struct of its functions. This crate implements the trait
//! [`Backend`](perf_worker::backend::Backend) by calling these functions.
//!
//! A panic does not unwind into C code: the functions here are `extern "C"`, so a panic prints its message and aborts
//! the process.
//!
//! # Promises of the header
//!
//! The SAFETY comments of this crate refer to these promises, which the header makes to the library:
//!
//! - **H1** A function pointer is NULL or a function of the declared type. No function ends by an exception or by
//!   `longjmp`.
//! - **H2** A pointer from C code is NULL or valid for reads of its type until the end of the call. A string or an
//!   array is valid up to its documented end. The struct of the back end, and everything to which it points, is valid
//!   until the end of the process.
//! - **H3** Functions of the back end and of a session may be called on any thread, even at the same time. Functions of
//!   an endpoint outside of executors are called only on the thread that created it. Functions of an executor and of
//!   its endpoints may be called on any thread, but only one function of an endpoint at a time. `stop` of an executor
//!   and `overwritten` of its endpoints may run at the same time as other functions.
//! - **H4** C code uses a pointer that it got from this library only until its documented end, and passes it back
//!   unchanged.

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
