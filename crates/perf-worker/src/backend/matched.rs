//! The trait that publishers and subscriptions share. It reports their matched endpoints, their id and their clock.

use crate::spec::matching::{Matching, OtherClock};

/// The endpoints with which a publisher or a subscription is matched. Not called while messages are being sent.
pub trait Matched {
    /// The endpoints that are matched with this endpoint now. Does not wait.
    ///
    /// # Errors
    /// The reason, as a sentence, if the middleware cannot continue.
    fn matched(&mut self) -> Result<Matching, String>;

    /// The reasons why other endpoints of the topic are not matched, one sentence each; empty if the reasons are not
    /// known.
    fn mismatches(&mut self) -> Vec<String>;

    /// The id of this publisher in [`Taken::source`](super::Taken::source) of its messages. Without an id, receivers
    /// cannot assign messages to publishers. The latency from the scheduled time is then unknown if the publishers
    /// start at different times.
    fn source(&self) -> Option<[u8; 16]> {
        None
    }

    /// The clock of the times that this endpoint reports, if the clock is not CLOCK_MONOTONIC. For a publisher, these
    /// are the times in the stamps of its messages. For a subscription, these are all times in [`Taken`](super::Taken)
    /// except the time in the stamp. The instrument reads the clock before the endpoint is ready and at the start of
    /// the run, and converts the times. The times in [`Draft::stamp`](super::Draft::stamp) and [`Sent`](super::Sent)
    /// are always times of CLOCK_MONOTONIC.
    fn clock(&self) -> Option<OtherClock> {
        None
    }
}
