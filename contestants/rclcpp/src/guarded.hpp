// The boundary to C, which no exception crosses.
#pragma once

#include <exception>

#include "perf_test_backend.h"

// Calls `work` and returns its result. If `work` throws, stores the text of the exception in `error` and returns
// `failed`. `what` is a phrase such as "create a publisher".
template <class Result, class Work>
Result guarded(perf_test_error *error, Result failed, const char *what, Work work) noexcept {
    try {
        return work();
    } catch (const std::exception &reason) {
        perf_test_fail(error, "rclcpp cannot %s: %s", what, reason.what());
    } catch (...) {
        perf_test_fail(error, "rclcpp cannot %s: it has thrown an exception without a text", what);
    }
    return failed;
}
