//! ROS 2's QoS profiles by their names: the values of `rmw/qos_profiles.h` (7.3), `rclcpp/qos.hpp` and
//! `rcl/logging_rosout.h`.

use crate::describe::qos::Qos;
use std::time::Duration;

impl Qos {
    /// The profile of sensor data, of which only the newest samples matter (`rmw_qos_profile_sensor_data`): best
    /// effort, volatile, the last 5 samples.
    pub fn sensor_data() -> Self {
        Qos::default().best_effort().keep_last(5)
    }

    /// The profile of services (`rmw_qos_profile_services_default`): reliable, volatile, the last 10 samples.
    pub fn services_default() -> Self {
        Qos::default()
    }

    /// The profile of parameter services (`rmw_qos_profile_parameters`): reliable, volatile, the last 1000 samples.
    pub fn parameters() -> Self {
        Qos::default().keep_last(1000)
    }

    /// The profile of parameter events (`rmw_qos_profile_parameter_events`): reliable, volatile, the last 1000 samples.
    pub fn parameter_events() -> Self {
        Qos::default().keep_last(1000)
    }

    /// The profile that the middleware chooses (`rmw_qos_profile_system_default`); here it is [`Qos::default`].
    pub fn system_default() -> Self {
        Qos::default()
    }

    /// The profile of the simulated time (`rclcpp::ClockQoS`): best effort, volatile, the last sample.
    pub fn clock() -> Self {
        Qos::default().best_effort().keep_last(1)
    }

    /// The profile of logs (`rcl_qos_profile_rosout_default`): reliable, transient local, the last 1000 samples, a
    /// lifespan of 10 s.
    pub fn rosout() -> Self {
        Qos::default().transient_local().keep_last(1000).lifespan(Duration::from_secs(10))
    }
}

impl From<u32> for Qos {
    /// The default profile with this depth, as in `rclcpp`'s `create_publisher(topic, 10)`.
    fn from(depth: u32) -> Self {
        Qos::default().keep_last(depth)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::describe::qos::{Durability, History, Liveliness, Reliability};

    /// The expected values were read from the ROS 2 headers, and from rclpy 7.1's `qos_profile_*` where rclpy
    /// has the profile.
    #[test]
    fn profiles_have_rmw_s_values() {
        use {Durability::*, Reliability::*};
        for (qos, depth, reliability, durability, lifespan_s) in [
            (Qos::default(), 10, Reliable, Volatile, None),
            (Qos::sensor_data(), 5, BestEffort, Volatile, None),
            (Qos::services_default(), 10, Reliable, Volatile, None),
            (Qos::parameters(), 1000, Reliable, Volatile, None),
            (Qos::parameter_events(), 1000, Reliable, Volatile, None),
            (Qos::clock(), 1, BestEffort, Volatile, None),
            (Qos::rosout(), 1000, Reliable, TransientLocal, Some(10)),
            (7.into(), 7, Reliable, Volatile, None),
        ] {
            let expected = Qos {
                history: History::KeepLast,
                depth,
                reliability,
                durability,
                deadline: None,
                lifespan: lifespan_s.map(Duration::from_secs),
                liveliness: Liveliness::Automatic,
                liveliness_lease_duration: None,
                avoid_ros_namespace_conventions: false,
            };
            assert_eq!(qos, expected);
        }
    }
}
