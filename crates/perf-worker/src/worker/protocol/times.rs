//! Times and limits of the protocol that all workers obey. A test checks that `docs/internals/worker-protocol.md` has
//! the same values.

use std::time::Duration;

use crate::clock::SECOND_NS;

/// The time within which an endpoint must be created.
pub const READY_NS: i64 = 60 * SECOND_NS;
/// The time between two probes of a publisher.
pub const PROBE_INTERVAL_NS: i64 = SECOND_NS / 100;
/// The quiet time before the start. Until it begins, endpoints take the probes that are still in transit.
pub const QUIET_NS: i64 = SECOND_NS / 50;
/// The longest delay from the end of a second until its row is sent to the reporting thread. If half the gap between
/// two messages is shorter, the delay is that half.
pub const ROW_DELAY_NS: i64 = SECOND_NS / 20;
/// The delay after which a row is shown even if the rows of some endpoints are missing.
pub const ROW_OVERDUE_NS: i64 = 2 * SECOND_NS;
/// The time after the end of the run in which overdue messages are still sent.
pub const CATCH_UP_NS: i64 = SECOND_NS / 2;
/// The shortest timeout in the wait for the last samples.
pub const SHORTEST_DRAIN_NS: i64 = SECOND_NS;
/// The longest timeout in the wait for the last samples. It is shorter than the coordinator's timeout for the end of an
/// endpoint.
pub const LONGEST_DRAIN_NS: i64 = 8 * SECOND_NS;
/// The time within which an endpoint must finish.
pub const FINISH_NS: i64 = 10 * SECOND_NS;
/// The time within which a worker must exit after the end of its standard input.
pub const EXIT: Duration = Duration::from_secs(3);
/// The time within which a daemon must become ready.
pub const DAEMON_READY: Duration = Duration::from_secs(30);
/// The time within which a daemon must exit after SIGTERM.
pub const DAEMON_EXIT: Duration = Duration::from_secs(3);
/// The number of consecutive refusals after which an endpoint gives up.
pub const MOST_REFUSALS: u32 = 100;
