// The functions of publishers, subscriptions and executors.

#pragma once

#include <exception>
#include <fastdds/dds/subscriber/DataReader.hpp>

#include "perf_test_backend.h"

extern const perf_test_publisher_functions PUBLISHER_FUNCTIONS;
extern const perf_test_subscription_functions SUBSCRIPTION_FUNCTIONS;
extern const perf_test_executor_functions EXECUTOR_FUNCTIONS;

// The data reader of a subscription.
eprosima::fastdds::dds::DataReader *reader_of(void *subscription);

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
