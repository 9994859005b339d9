//! Conversion of the QoS in a binary representation to Gantry's QoS.

use gantry::Qos;
use gantry_xrce::wire::{self, QosFlags};
use std::time::Duration;

/// The largest history depth of a client's data writer or data reader; a larger depth becomes this one.
const MAX_DEPTH: u16 = 1000;

/// Gantry's QoS for the QoS that the client requests. Without a requested QoS, the result is ROS 2's default QoS.
/// Without a requested depth, or with the depth 0, the result has the default depth.
pub fn granted(qos: Option<&wire::Qos<'_>>) -> Qos {
    let Some(asked) = qos else { return Qos::default() };
    let flags = asked.flags;
    let mut qos = Qos::default();
    qos = if flags.has(QosFlags::RELIABLE) { qos.reliable() } else { qos.best_effort() };
    qos = match asked.history_depth {
        _ if !flags.has(QosFlags::KEEP_LAST) => qos.keep_all(),
        None | Some(0) => qos,
        Some(depth) => qos.keep_last(depth.min(MAX_DEPTH).into()),
    };
    let keeps = [QosFlags::TRANSIENT_LOCAL, QosFlags::TRANSIENT, QosFlags::PERSISTENT];
    if keeps.into_iter().any(|flag| flags.has(flag)) {
        qos = qos.transient_local();
    }
    let duration =
        |ms: Option<u32>| ms.filter(|&ms| ms > 0 && ms < u32::MAX).map(|ms| Duration::from_millis(ms.into()));
    Qos { deadline: duration(asked.deadline_ms), lifespan: duration(asked.lifespan_ms), ..qos }
}

#[cfg(test)]
mod tests {
    use super::*;
    use gantry::{Durability, History, Reliability};

    #[test]
    fn policies_are_taken_over() {
        let flags = QosFlags::KEEP_LAST | QosFlags::TRANSIENT_LOCAL;
        let asked = wire::Qos { flags, history_depth: Some(3), lifespan_ms: Some(20), ..Default::default() };
        let qos = granted(Some(&asked));
        assert_eq!((qos.history, qos.depth, qos.reliability), (History::KeepLast, 3, Reliability::BestEffort));
        assert_eq!((qos.durability, qos.lifespan), (Durability::TransientLocal, Some(Duration::from_millis(20))));
        assert_eq!(granted(Some(&wire::Qos::default())).history, History::KeepAll);
        assert_eq!(granted(Some(&wire::Qos { history_depth: Some(u16::MAX), ..asked })).depth, 1000);
        assert_eq!(granted(None), Qos::default());
    }
}
