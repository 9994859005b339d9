//! The context of an endpoint: its plan, the description of the run, the orders to the endpoint, and its reports.

pub mod account;
pub mod outgoing;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, SyncSender};

use super::{
    placement::Placement,
    protocol::{EndpointReport, Order, Report},
};
use crate::{endpoint::EndpointPlan, run_spec::RunSpec};
use account::InstrumentAccount;
use outgoing::Outgoing;

/// The value of `Context::expected` before the coordinator sends the order `Drain`.
pub const NOT_DRAINING: u64 = u64::MAX;

/// The flags through which endpoints get orders while they measure. The thread that reads orders sets them.
#[derive(Debug)]
pub struct Flags {
    /// Publishers must stop publishing.
    pub stop: AtomicBool,
    /// The endpoints must end at once, because the coordinator has exited or has closed stdin.
    pub abandon: Arc<AtomicBool>,
}

impl Flags {
    /// Whether the endpoints must end at once.
    pub fn is_abandoned(&self) -> bool {
        self.abandon.load(Ordering::Relaxed)
    }
}

/// Everything that the thread of an endpoint needs: its plan, its orders, and the channels for its reports.
pub struct Context {
    pub plan: EndpointPlan,
    pub placement: Placement,
    pub spec: Arc<RunSpec>,
    /// The delay from the end of a second until the row of that second is sent to the reporting thread.
    pub row_delay_ns: i64,
    pub orders: Receiver<Arc<Order>>,
    pub flags: Arc<Flags>,
    /// The number of samples that the endpoint should receive in the whole run; `NOT_DRAINING` while publishers may
    /// send more.
    pub expected: Arc<AtomicU64>,
    pub outgoing: SyncSender<Outgoing>,
    /// The resource usage of `perf_test`'s own threads except the main thread.
    pub account: InstrumentAccount,
}

impl Context {
    /// Passes a report to the reporting thread.
    pub fn report(&self, report: Report) {
        // An error means that the main thread has ended, so the process is exiting.
        let _ = self.outgoing.send(Outgoing::Control(Box::new(report)));
    }

    /// Reports that the endpoint has finished. The endpoint stays alive until [`wait_for_end`](Self::wait_for_end)
    /// returns: other processes may still read its messages, and its memory is not measured yet.
    pub fn finish(&self, report: EndpointReport) {
        let _ = self.outgoing.send(Outgoing::Finished { endpoint: self.plan.endpoint, report });
    }

    /// Waits until the coordinator closes stdin or exits.
    pub fn wait_for_end(&self) {
        while !self.flags.is_abandoned() && self.orders.recv().is_ok() {}
    }
}
