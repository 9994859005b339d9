// The executors of rclcpp that this distribution of ROS 2 has.
#pragma once

#include <memory>
#include <string>

#include "perf_test_backend.h"
#include "rclcpp/rclcpp.hpp"

#if __has_include("rclcpp/experimental/executors/events_executor/events_executor.hpp")
#include "rclcpp/experimental/executors/events_executor/events_executor.hpp"
#define HAS_EVENTS_EXECUTOR 1
#else
#define HAS_EVENTS_EXECUTOR 0
#endif

// The values of the setting `executor` and of a topology's executors, the default first.
constexpr const char *EXECUTORS[] = {
    "single",
    "multi",
#if HAS_EVENTS_EXECUTOR
    "events",
#endif
    nullptr,
};

inline std::unique_ptr<rclcpp::Executor> make_executor(const std::string &name) {
#if HAS_EVENTS_EXECUTOR
    if (name == "events") {
        return std::make_unique<rclcpp::experimental::executors::EventsExecutor>();
    }
#endif
    if (name == "multi") {
        return std::make_unique<rclcpp::executors::MultiThreadedExecutor>();
    }
    return std::make_unique<rclcpp::executors::SingleThreadedExecutor>();
}

// The functions of a topology's executors.
extern const perf_test_executor_functions EXECUTOR_FUNCTIONS;
