//! The periods that bridges to all networks have in common.

use std::time::Duration;

/// The longest time between two readings of the domain's graph, and the time between two statuses.
pub const PERIOD: Duration = Duration::from_secs(1);
/// The time for which the bridge waits after a change, so that it handles further changes together with it.
pub const SETTLE: Duration = Duration::from_millis(2);
/// The time between two attempts to send the calls that wait until their server is matched.
pub const IMPATIENCE: Duration = Duration::from_millis(2);
/// The time for which a topic without local subscriptions stays: a new subscription then matches the existing local
/// publishers. New publishers would send it latched samples that it has received already.
pub const LINGER: Duration = Duration::from_secs(3);
