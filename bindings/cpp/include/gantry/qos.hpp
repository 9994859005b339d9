// QoS profiles. The names are the same as in rclcpp.
#pragma once

#include <gantry/result.hpp>

#include <chrono>
#include <cstdint>

namespace gantry {

namespace detail {

// A duration for the C functions, which use -1 for no limit.
inline std::int64_t timeout_ns(std::chrono::nanoseconds timeout) {
    return timeout == std::chrono::nanoseconds::max() ? -1 : static_cast<std::int64_t>(timeout.count());
}

inline std::uint64_t limit_ns(std::chrono::nanoseconds limit) {
    return limit.count() > 0 ? static_cast<std::uint64_t>(limit.count()) : 0;
}

}  // namespace detail

// A duration that means no limit.
constexpr std::chrono::nanoseconds forever = std::chrono::nanoseconds::max();

// A QoS profile. The default is RELIABLE, VOLATILE, KEEP_LAST with the given depth. Each method changes the profile and
// returns it, so calls can be chained: `QoS(1).transient_local()`.
class QoS {
public:
    QoS(std::uint32_t depth = 10) { keep_last(depth); }

    QoS &keep_last(std::uint32_t depth) {
        qos_.history = GANTRY_HISTORY_KEEP_LAST;
        qos_.depth = depth;
        return *this;
    }
    QoS &keep_all() {
        qos_.history = GANTRY_HISTORY_KEEP_ALL;
        return *this;
    }
    QoS &reliable() {
        qos_.reliability = GANTRY_RELIABILITY_RELIABLE;
        return *this;
    }
    QoS &best_effort() {
        qos_.reliability = GANTRY_RELIABILITY_BEST_EFFORT;
        return *this;
    }
    QoS &durability_volatile() {
        qos_.durability = GANTRY_DURABILITY_VOLATILE;
        return *this;
    }
    QoS &transient_local() {
        qos_.durability = GANTRY_DURABILITY_TRANSIENT_LOCAL;
        return *this;
    }
    QoS &deadline(std::chrono::nanoseconds limit) {
        qos_.deadline_ns = detail::limit_ns(limit);
        return *this;
    }
    QoS &lifespan(std::chrono::nanoseconds limit) {
        qos_.lifespan_ns = detail::limit_ns(limit);
        return *this;
    }
    QoS &automatic() {
        qos_.liveliness = GANTRY_LIVELINESS_AUTOMATIC;
        return *this;
    }
    QoS &manual_by_topic() {
        qos_.liveliness = GANTRY_LIVELINESS_MANUAL_BY_TOPIC;
        return *this;
    }
    QoS &liveliness_lease_duration(std::chrono::nanoseconds limit) {
        qos_.liveliness_lease_duration_ns = detail::limit_ns(limit);
        return *this;
    }
    QoS &avoid_ros_namespace_conventions(bool on) {
        qos_.avoid_ros_namespace_conventions = on;
        return *this;
    }

    const gantry_qos &get() const noexcept { return qos_; }

private:
    gantry_qos qos_ = detail::sized<gantry_qos>();
};

// ROS 2's QoS profile for sensors: BEST_EFFORT, KEEP_LAST 5.
class SensorDataQoS : public QoS {
public:
    SensorDataQoS() : QoS(5) { best_effort(); }
};

// ROS 2's QoS profile for services.
class ServicesQoS : public QoS {
public:
    ServicesQoS() : QoS(10) {}
};

}  // namespace gantry
