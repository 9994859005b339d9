//! The trait that publishers and subscriptions share: their matching, their id and their clock.

use crate::spec::matching::{Matching, OtherClock};

/// The matching of a publisher with subscriptions, or of a subscription with publishers. Not called while
/// messages are due.
pub trait Matched {
    /// The endpoints that are matched with this endpoint now. Does not wait.
    ///
    /// # Errors
    /// The reason, as a sentence, if the middleware cannot go on.
    fn matched(&mut self) -> Result<Matching, String>;

    /// The reasons why other endpoints of the topic are not matched, one sentence each; empty if the reasons are not
    /// known.
    fn mismatches(&mut self) -> Vec<String>;

    /// The id that a publisher's messages have in [`Taken::source`](super::Taken::source). Without the id, a
    /// message has no known publisher, so its latency from its scheduled time is not known if the publishers begin at
    /// different times.
    fn source(&self) -> Option<[u8; 16]> {
        None
    }

    /// The clock of the endpoint's times if it is not CLOCK_MONOTONIC. The times of a publisher are the stamps in
    /// its messages; the times of a subscription are all times in [`Taken`](super::Taken) except the stamp. The
    /// instrument calls this before the endpoint is ready, and at the start, and converts the times. The times in
    /// [`Draft::stamp`](super::Draft::stamp) and [`Sent`](super::Sent) are always times of CLOCK_MONOTONIC.
    fn clock(&self) -> Option<OtherClock> {
        None
    }
}
