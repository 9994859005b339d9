use super::{
    best_available::{choose_for_publisher, choose_for_subscription},
    *,
};

use gantry::Liveliness;
use rmw_abi::qos::{BEST_AVAILABLE, INFINITE, MAX_DEPTH, limit, qos_profile};
use std::time::Duration;

const UNSPECIFIED: rmw_time_t = rmw_time_t { sec: 0, nsec: 0 };

fn system_default() -> rmw_qos_profile_t {
    rmw_qos_profile_t {
        history: RMW_QOS_POLICY_HISTORY_SYSTEM_DEFAULT,
        depth: 0,
        reliability: RMW_QOS_POLICY_RELIABILITY_SYSTEM_DEFAULT,
        durability: RMW_QOS_POLICY_DURABILITY_SYSTEM_DEFAULT,
        deadline: UNSPECIFIED,
        lifespan: UNSPECIFIED,
        liveliness: RMW_QOS_POLICY_LIVELINESS_SYSTEM_DEFAULT,
        liveliness_lease_duration: UNSPECIFIED,
        avoid_ros_namespace_conventions: false,
    }
}

fn best_available() -> rmw_qos_profile_t {
    rmw_qos_profile_t {
        history: RMW_QOS_POLICY_HISTORY_KEEP_LAST,
        depth: 10,
        reliability: RMW_QOS_POLICY_RELIABILITY_BEST_AVAILABLE,
        durability: RMW_QOS_POLICY_DURABILITY_BEST_AVAILABLE,
        deadline: BEST_AVAILABLE,
        lifespan: UNSPECIFIED,
        liveliness: RMW_QOS_POLICY_LIVELINESS_BEST_AVAILABLE,
        liveliness_lease_duration: BEST_AVAILABLE,
        avoid_ros_namespace_conventions: false,
    }
}

fn ms(count: u64) -> Duration {
    Duration::from_millis(count)
}

#[test]
fn system_defaults_are_those_of_dds() {
    let granted = qos_from_profile(&system_default()).unwrap();
    assert_eq!(granted, Qos::default().keep_last(1));
    let shown = qos_profile(&granted);
    assert_eq!((shown.deadline, shown.lifespan, shown.liveliness_lease_duration), (INFINITE, INFINITE, INFINITE));
    assert_eq!((shown.history, shown.depth), (RMW_QOS_POLICY_HISTORY_KEEP_LAST, 1));
}

#[test]
fn profiles_come_back_as_they_were_given() {
    let second = rmw_time_t { sec: 1, nsec: 1 };
    let given = rmw_qos_profile_t {
        history: RMW_QOS_POLICY_HISTORY_KEEP_LAST,
        depth: 7,
        reliability: RMW_QOS_POLICY_RELIABILITY_BEST_EFFORT,
        durability: RMW_QOS_POLICY_DURABILITY_TRANSIENT_LOCAL,
        deadline: second,
        lifespan: second,
        liveliness: RMW_QOS_POLICY_LIVELINESS_MANUAL_BY_TOPIC,
        liveliness_lease_duration: second,
        avoid_ros_namespace_conventions: true,
    };
    assert_eq!(qos_profile(&qos_from_profile(&given).unwrap()), given);
    let reliable = rmw_qos_profile_t { reliability: RMW_QOS_POLICY_RELIABILITY_RELIABLE, ..given };
    assert_eq!(qos_profile(&service_qos(&given).unwrap()), reliable, "services are reliable");
}

#[test]
fn unknown_policies_are_refused_by_name() {
    let given = system_default();
    for (profile, policy) in [
        (rmw_qos_profile_t { history: RMW_QOS_POLICY_HISTORY_UNKNOWN, ..given }, "history"),
        (rmw_qos_profile_t { reliability: RMW_QOS_POLICY_RELIABILITY_UNKNOWN, ..given }, "reliability"),
        (rmw_qos_profile_t { durability: 77, ..given }, "durability"),
        (rmw_qos_profile_t { liveliness: RMW_QOS_POLICY_LIVELINESS_UNKNOWN, ..given }, "liveliness"),
        (rmw_qos_profile_t { liveliness: RMW_QOS_POLICY_LIVELINESS_MANUAL_BY_NODE, ..given }, "MANUAL_BY_NODE"),
    ] {
        for failure in [qos_from_profile(&profile).unwrap_err(), service_qos(&profile).unwrap_err()] {
            assert_eq!(failure.code, RMW_RET_INVALID_ARGUMENT);
            assert!(failure.sentence.contains(policy), "{}", failure.sentence);
        }
    }
}

#[test]
fn durations_beyond_the_range_are_no_limit() {
    for time in [UNSPECIFIED, INFINITE, BEST_AVAILABLE, rmw_time_t { sec: u64::MAX, nsec: u64::MAX }] {
        assert_eq!(limit(time), None, "{time:?}");
    }
    assert_eq!(limit(rmw_time_t { sec: 0, nsec: 2_500_000_000 }), Some(ms(2500)));
    let deep = rmw_qos_profile_t { depth: usize::MAX, ..system_default() };
    assert_eq!(qos_from_profile(&deep).unwrap().depth, MAX_DEPTH);
}

#[test]
fn a_subscription_gets_the_best_that_all_publishers_offer() {
    let chosen = |publishers: &[Qos]| {
        let mut profile = best_available();
        choose_for_subscription(&mut profile, publishers.iter().copied());
        qos_from_profile(&profile).unwrap()
    };
    let strong = Qos::default().transient_local().liveliness(Liveliness::ManualByTopic).deadline(ms(10));
    let best = Qos::default().transient_local().liveliness(Liveliness::ManualByTopic);
    assert_eq!(chosen(&[]), best);
    assert_eq!(chosen(&[strong, strong.deadline(ms(30))]), best.deadline(ms(30)));
    let weak = chosen(&[strong, Qos::default().best_effort()]);
    assert_eq!(weak, Qos::default().best_effort());
    for publisher in [strong, Qos::default().best_effort()] {
        assert_eq!(publisher.incompatible_policy(&weak), None);
    }
}

#[test]
fn a_publisher_offers_what_its_strictest_subscription_requests() {
    let chosen = |subscriptions: &[Qos]| {
        let mut profile = best_available();
        choose_for_publisher(&mut profile, subscriptions.iter().copied());
        qos_from_profile(&profile).unwrap()
    };
    let best = Qos::default().transient_local();
    assert_eq!(chosen(&[]), best);
    let manual = Qos::default().liveliness(Liveliness::ManualByTopic).liveliness_lease_duration(ms(50));
    let subscriptions = [manual, Qos::default().deadline(ms(20)), Qos::default().deadline(ms(10))];
    let offered = chosen(&subscriptions);
    assert_eq!(offered.deadline, Some(ms(10)));
    assert!(subscriptions.iter().all(|requested| offered.incompatible_policy(requested).is_none()), "{offered:?}");
}

#[test]
fn services_have_their_defaults_for_best_available() {
    assert_eq!(service_qos(&best_available()).unwrap(), Qos::services_default());
}

fn check(publisher: Qos, subscription: Qos) -> (rmw_qos_compatibility_type_t, String) {
    check_profiles(&qos_profile(&publisher), &qos_profile(&subscription))
}

fn check_profiles(
    publisher: &rmw_qos_profile_t,
    subscription: &rmw_qos_profile_t,
) -> (rmw_qos_compatibility_type_t, String) {
    let mut reason = [b'x'; 2048];
    let compatibility = check_compatible(publisher, subscription, &mut reason);
    let end = reason.iter().position(|byte| *byte == 0).unwrap();
    (compatibility, String::from_utf8(reason[..end].to_vec()).unwrap())
}

#[test]
fn compatibility_agrees_with_the_engine() {
    let qos = Qos::default();
    let all = [
        qos,
        qos.best_effort(),
        qos.transient_local(),
        qos.deadline(ms(10)),
        qos.deadline(ms(20)),
        qos.liveliness(Liveliness::ManualByTopic),
        qos.liveliness_lease_duration(ms(10)),
        qos.lifespan(ms(1)).keep_all(),
    ];
    for publisher in all {
        for subscription in all {
            let is_error = publisher.incompatible_policy(&subscription).is_some();
            let (compatibility, reason) = check(publisher, subscription);
            let expected = if is_error { RMW_QOS_COMPATIBILITY_ERROR } else { RMW_QOS_COMPATIBILITY_OK };
            assert_eq!(compatibility, expected, "{publisher:?} {subscription:?} {reason}");
            assert_eq!(is_error, reason.starts_with("ERROR: ") && reason.ends_with(';'), "{reason}");
        }
    }
}

#[test]
fn policies_that_are_not_known_are_warned_of() {
    let (open, known) = (system_default(), qos_profile(&Qos::default().transient_local()));
    let (compatibility, reason) = check_profiles(&open, &known);
    assert_eq!((compatibility, reason.matches("WARNING: ").count()), (RMW_QOS_COMPATIBILITY_WARNING, 2), "{reason}");
    let (compatibility, reason) = check_profiles(&known, &open);
    assert_eq!((compatibility, reason.matches("WARNING: ").count()), (RMW_QOS_COMPATIBILITY_WARNING, 1), "{reason}");
    let (compatibility, reason) = check_profiles(&open, &open);
    assert_eq!((compatibility, reason.matches("WARNING: ").count()), (RMW_QOS_COMPATIBILITY_WARNING, 3), "{reason}");
    assert_eq!(check_profiles(&best_available(), &known).0, RMW_QOS_COMPATIBILITY_OK);
}

#[test]
fn a_reason_is_cut_where_its_buffer_ends() {
    let (publisher, subscription) = (qos_profile(&Qos::default().best_effort()), qos_profile(&Qos::default()));
    let mut reason = [b'x'; 8];
    assert_eq!(check_compatible(&publisher, &subscription, &mut reason), RMW_QOS_COMPATIBILITY_ERROR);
    assert_eq!(&reason, b"ERROR: \0");
    assert_eq!(check_compatible(&publisher, &subscription, &mut []), RMW_QOS_COMPATIBILITY_ERROR);
    let mut one = [b'x'];
    check_compatible(&publisher, &subscription, &mut one);
    assert_eq!(one, [0]);
}
