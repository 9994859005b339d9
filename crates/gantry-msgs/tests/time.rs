//! Tests of the conversions between the messages Time and Duration and the types of the standard library.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on says where")]

use gantry_msgs::builtin_interfaces::msg::{Duration, Time};
use std::time::{self, SystemTime, UNIX_EPOCH};

const fn ns(ns: u64) -> time::Duration {
    time::Duration::from_nanos(ns)
}

#[test]
fn times_become_times_since_1970_and_back() {
    for (system, sec, nanosec) in [
        (UNIX_EPOCH, 0, 0),
        (UNIX_EPOCH + ns(1_700_000_000_000_000_007), 1_700_000_000, 7),
        (UNIX_EPOCH - ns(1), -1, 999_999_999),
        (UNIX_EPOCH - ns(2_000_000_000), -2, 0),
        (UNIX_EPOCH - time::Duration::new(1 << 31, 0), i32::MIN, 0),
    ] {
        assert_eq!((Time::from(system), SystemTime::from(Time { sec, nanosec })), (Time { sec, nanosec }, system));
    }
    let beyond = time::Duration::new(1 << 31, 5);
    assert_eq!(Time::from(UNIX_EPOCH + beyond), Time { sec: i32::MAX, nanosec: 999_999_999 });
    assert_eq!(Time::from(UNIX_EPOCH - beyond), Time { sec: i32::MIN, nanosec: 0 });
}

#[test]
fn durations_become_durations_and_back_unless_they_are_negative() {
    let duration = time::Duration::new(3, 5);
    assert_eq!(Duration::from(duration), Duration { sec: 3, nanosec: 5 });
    assert_eq!(time::Duration::try_from(Duration { sec: 3, nanosec: 5 }), Ok(duration));
    assert_eq!(Duration::from(time::Duration::MAX), Duration { sec: i32::MAX, nanosec: 999_999_999 });
    let negative = time::Duration::try_from(Duration { sec: -1, nanosec: 999_999_999 }).unwrap_err();
    assert!(negative.to_string().contains("-1 s and 999999999 ns"));
}
