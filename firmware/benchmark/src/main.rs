//! The program whose memory `perf_micro memory` measures. It creates publishers, subscriptions, services and clients,
//! sends or takes ten messages with each of them, closes its session and stops. Constants of the build (`build.rs`)
//! determine the entities, topics, history, reliability and message type.
//!
//! On the board, the program contains no code that measures, because the emulator reads the stack from outside. On the
//! host, the measuring code is separate from the measured code.

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
