//! The worker program of zenoh whose subscriptions take from channels.

use std::process::ExitCode;

use contestant_zenoh::Zenoh;
use perf_worker::backend::DeliveryKind;

fn main() -> ExitCode {
    perf_worker::worker::main(&Zenoh { name: "zenoh", delivery: DeliveryKind::Pull })
}
