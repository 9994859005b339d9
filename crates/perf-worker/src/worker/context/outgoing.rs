//! Messages from the threads of endpoints to the reporting thread.

use std::sync::mpsc::SyncSender;

use crate::{
    endpoint::Endpoint,
    measure::tally::Tally,
    worker::protocol::{EndpointReport, Report},
};

/// The capacity of the queue to the reporting thread, in messages. An endpoint that finds the queue full waits.
pub const OUTGOING_CAPACITY: usize = 1024;

/// A message to the reporting thread.
pub enum Outgoing {
    /// A report that is not part of the measurement.
    Control(Box<Report>),
    /// The measurement has begun.
    Started,
    /// The figures of one endpoint in one second.
    Row {
        /// The endpoint.
        endpoint: Endpoint,
        /// The index of the second.
        second: u64,
        /// Whether the row covers a whole second. The last row of an endpoint may cover less.
        whole: bool,
        /// The counts.
        tally: Box<Tally>,
        /// The channel through which the reporting thread returns the emptied `tally` for reuse.
        recycle: SyncSender<Box<Tally>>,
    },
    /// An endpoint has finished.
    Finished {
        /// The endpoint.
        endpoint: Endpoint,
        /// The report of the endpoint.
        report: EndpointReport,
    },
    /// The thread of an endpoint has ended.
    ThreadEnded,
}
