// The functions of publishers and subscriptions.

#pragma once

#include <exception>

#include "perf_test_backend.h"

extern const perf_test_publisher_functions PUBLISHER_FUNCTIONS;
extern const perf_test_subscription_functions SUBSCRIPTION_FUNCTIONS;

// The result of `work`, or `failed` and the sentence of its exception.
template <class Work, class Result> Result guarded(perf_test_error *error, Result failed, Work work) noexcept {
    try {
        return work();
    } catch (const std::exception &exception) {
        perf_test_fail(error, "%s", exception.what());
    } catch (...) {
        perf_test_fail(error, "Fast DDS has thrown an exception without a sentence");
    }
    return failed;
}
