//! Tests of the round-trip times in the bridge's status.

use crate::support::*;

#[test]
fn bridges_show_the_round_trip_times_to_each_other() {
    in_host("round_trips::bridges_show_the_round_trip_times_to_each_other", |far| {
        let link = Link::new();
        let _bridge = link.start(&first_host());
        let other = link.start(far);
        let shown = status("a round-trip time", |status| !status.round_trips.is_empty());
        let [round_trip] = &shown.round_trips[..] else { panic!("{shown:?}") };
        assert_ne!(round_trip.session, shown.session);
        assert!(shown.links.iter().any(|link| link.session == round_trip.session), "{shown:?}");
        assert!(round_trip.time_ns > 0);
        drop(other);
        status("no bridge that has ended", |status| status.round_trips.is_empty());
    });
}
