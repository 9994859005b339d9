//! The program whose memory `perf_micro memory` measures. It creates publishers, subscriptions, services and
//! clients, sends or takes ten messages with each, closes its session and stops. Their numbers, the history, the
//! reliability, the message and the number of topics are constants of the build (`build.rs`).
//!
//! It has no code that measures: the emulator reads its stack from outside. The same program for the host measures
//! itself, outside of the part that is measured.

#![cfg_attr(target_os = "none", no_std, no_main)]

#[cfg(target_os = "none")]
mod firmware;
#[cfg(not(target_os = "none"))]
mod host;
mod message;
mod parameters;
mod program;

#[cfg(target_os = "none")]
use firmware::Line;
#[cfg(not(target_os = "none"))]
use host::Line;

#[cfg(not(target_os = "none"))]
fn main() -> std::process::ExitCode {
    host::main()
}
