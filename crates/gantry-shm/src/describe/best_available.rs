//! QoS that are derived from the endpoints of a topic, by the rules in `rmw/types.h`
//! (`RMW_QOS_POLICY_*_BEST_AVAILABLE`).

use crate::describe::qos::{Durability, Liveliness, Qos, Reliability};
use std::time::Duration;

impl Qos {
    /// Returns this QoS with the best reliability, durability, liveliness, deadline and lease that all of these
    /// publishers offer, so a subscription that requests the result matches each of them. Without publishers, the
    /// result has the best value of each of these policies. History, depth and lifespan do not change.
    ///
    /// ```
    /// use gantry_shm::Qos;
    /// let camera = Qos::sensor_data();
    /// let map = Qos::default().transient_local();
    /// assert_eq!(Qos::default().best_offered_by([map]), Qos::default().transient_local());
    /// assert_eq!(Qos::default().best_offered_by([map, camera]), Qos::default().best_effort());
    /// ```
    pub fn best_offered_by(self, publishers: impl IntoIterator<Item = Qos, IntoIter: Clone>) -> Self {
        let publishers = publishers.into_iter();
        let all = |offers: fn(Qos) -> bool| publishers.clone().all(offers);
        // The longest of the publishers' limits; `None` (no limit) if one of the publishers has none.
        let loosest = |limit: fn(Qos) -> Option<Duration>| {
            let limits: Option<Vec<_>> = publishers.clone().map(limit).collect();
            limits.and_then(|limits| limits.into_iter().max())
        };
        Qos {
            reliability: match all(|qos| qos.reliability == Reliability::Reliable) {
                true => Reliability::Reliable,
                false => Reliability::BestEffort,
            },
            durability: match all(|qos| qos.durability == Durability::TransientLocal) {
                true => Durability::TransientLocal,
                false => Durability::Volatile,
            },
            liveliness: liveliness(all(|qos| qos.liveliness == Liveliness::ManualByTopic)),
            deadline: loosest(|qos| qos.deadline),
            liveliness_lease_duration: loosest(|qos| qos.liveliness_lease_duration),
            ..self
        }
    }

    /// Returns this QoS with the reliability, durability, liveliness, deadline and lease that a publisher must offer
    /// to match each of these subscriptions: RELIABLE and TRANSIENT_LOCAL, which suit all subscriptions, and for the
    /// other policies the value of the strictest subscription. History, depth and lifespan do not change.
    pub fn best_requested_by(self, subscriptions: impl IntoIterator<Item = Qos, IntoIter: Clone>) -> Self {
        let subscriptions = subscriptions.into_iter();
        let strictest = |limit: fn(Qos) -> Option<Duration>| subscriptions.clone().filter_map(limit).min();
        Qos {
            liveliness: liveliness(subscriptions.clone().any(|qos| qos.liveliness == Liveliness::ManualByTopic)),
            deadline: strictest(|qos| qos.deadline),
            liveliness_lease_duration: strictest(|qos| qos.liveliness_lease_duration),
            ..self.reliable().transient_local()
        }
    }
}

fn liveliness(is_manual: bool) -> Liveliness {
    if is_manual { Liveliness::ManualByTopic } else { Liveliness::Automatic }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ms(ms: u64) -> Duration {
        Duration::from_millis(ms)
    }

    #[test]
    fn a_subscription_gets_the_best_that_all_publishers_offer() {
        let own = Qos::default().best_effort().keep_last(7);
        let strong = Qos::default().transient_local().liveliness(Liveliness::ManualByTopic).deadline(ms(10));
        let best = own.reliable().transient_local().liveliness(Liveliness::ManualByTopic);
        assert_eq!(own.best_offered_by([]), best);
        assert_eq!(own.best_offered_by([strong, strong.deadline(ms(30))]), best.deadline(ms(30)));
        let publishers = [strong, Qos::default().best_effort()];
        let weak = own.best_offered_by(publishers);
        assert_eq!(weak, own);
        assert!(publishers.iter().all(|publisher| publisher.incompatible_policy(&weak).is_none()));
    }

    #[test]
    fn a_publisher_offers_what_its_strictest_subscription_requests() {
        let own = Qos::default().best_effort().keep_last(7);
        assert_eq!(own.best_requested_by([]), own.reliable().transient_local());
        let manual = Qos::default().liveliness(Liveliness::ManualByTopic).liveliness_lease_duration(ms(50));
        let subscriptions = [manual, Qos::default().deadline(ms(20)), Qos::default().deadline(ms(10))];
        let offered = own.best_requested_by(subscriptions);
        assert_eq!(offered.deadline, Some(ms(10)));
        assert!(subscriptions.iter().all(|requested| offered.incompatible_policy(requested).is_none()), "{offered:?}");
    }
}
