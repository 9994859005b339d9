//! The program whose memory `perf_micro memory` measures. It creates publishers, subscriptions, services and clients,
//! sends or takes ten messages with each of them, closes its session and stops. The numbers of entities and topics, the
//! history, the reliability and the message are constants of the build (`build.rs`).
//!
//! On the board, the program has no code that measures: the emulator reads the stack from outside. On the host, the
//! code that measures lies outside of the measured code.

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
