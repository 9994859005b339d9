//! The times that bridges to all networks have.

use std::time::Duration;

/// The time between two readings of the domain's graph if nothing else happens, and between two statuses.
pub const PERIOD: Duration = Duration::from_secs(1);
/// The time for which changes that follow each other are collected.
pub const SETTLE: Duration = Duration::from_millis(2);
/// The time between two looks while calls wait until their server is matched.
pub const IMPATIENCE: Duration = Duration::from_millis(2);
/// The time for which a topic without local subscriptions stays: a subscription that comes meanwhile has matched the
/// publishers here, and would get latched samples again from new ones.
pub const LINGER: Duration = Duration::from_secs(3);
