//! Periods and delays that all bridges use.

use std::time::Duration;

/// The longest time between two readings of the domain's graph, and the time between two statuses.
pub const PERIOD: Duration = Duration::from_secs(1);
/// The delay after a change of a graph, so that the bridge handles further changes together with it.
pub const SETTLE: Duration = Duration::from_millis(2);
/// The time between two attempts to send calls that wait until a server is matched.
pub const IMPATIENCE: Duration = Duration::from_millis(2);
/// The time for which the local publishers of a topic stay after its last local subscription has left. A new
/// subscription then matches these publishers; new publishers would send it latched samples that it has received
/// already.
pub const LINGER: Duration = Duration::from_secs(3);
