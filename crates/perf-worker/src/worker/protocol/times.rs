//! The times and numbers of the protocol, which all workers keep to. A test compares
//! `docs/internals/worker-protocol.md` with them.

use std::time::Duration;

use crate::clock::SECOND_NS;

/// The time within which an endpoint must be created.
pub const READY_NS: i64 = 60 * SECOND_NS;
/// The time from one probe to the next.
pub const PROBE_INTERVAL_NS: i64 = SECOND_NS / 100;
/// Probes that are still on their way are taken until this time before the start.
pub const QUIET_NS: i64 = SECOND_NS / 50;
/// The longest time between the end of a row's second and the hand-over of the row. The time is half the gap between
/// two messages if that is shorter.
pub const ROW_DELAY_NS: i64 = SECOND_NS / 20;
/// The delay after which a row is shown without the endpoints whose rows have not come.
pub const ROW_OVERDUE_NS: i64 = 2 * SECOND_NS;
/// Time after the end of the run in which messages that were due before it are still sent.
pub const CATCH_UP_NS: i64 = SECOND_NS / 2;
/// The shortest timeout for missing samples.
pub const SHORTEST_DRAIN_NS: i64 = SECOND_NS;
/// The longest timeout for missing samples: shorter than the coordinator's timeout.
pub const LONGEST_DRAIN_NS: i64 = 8 * SECOND_NS;
/// The time within which an endpoint must finish.
pub const FINISH_NS: i64 = 10 * SECOND_NS;
/// The time within which a worker must exit after the end of its standard input.
pub const EXIT: Duration = Duration::from_secs(3);
/// Time for a daemon to become ready.
pub const DAEMON_READY: Duration = Duration::from_secs(30);
/// Time for a daemon to exit after SIGTERM.
pub const DAEMON_EXIT: Duration = Duration::from_secs(3);
/// Refusals in a row after which an endpoint gives up.
pub const MOST_REFUSALS: u32 = 100;
