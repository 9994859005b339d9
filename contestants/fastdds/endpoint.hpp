// The functions of publishers, subscriptions, services and executors.

#pragma once

#include <exception>
#include <fastdds/dds/subscriber/DataReader.hpp>
#include <fastdds/rtps/common/SampleIdentity.hpp>

#include "perf_test_backend.h"

extern const perf_test_publisher_functions PUBLISHER_FUNCTIONS;
extern const perf_test_subscription_functions SUBSCRIPTION_FUNCTIONS;
extern const perf_test_subscription_functions LISTENER_FUNCTIONS;
extern const perf_test_executor_functions EXECUTOR_FUNCTIONS;

int create_client(void *session, const perf_test_run *run, const perf_test_endpoint *plan,
                  perf_test_service_end *client, perf_test_error *error);
int create_server(void *session, const perf_test_run *run, const perf_test_endpoint *plan,
                  perf_test_service_end *server, perf_test_error *error);

// Creates a subscription without a wait set. Its data reader receives nothing until it is enabled. Returns nullptr on
// failure.
void *create_reader(void *session, const perf_test_run *run, const perf_test_endpoint *plan, perf_test_error *error);
// The data reader of a subscription.
eprosima::fastdds::dds::DataReader *reader_of(void *subscription);
// Limits a subscription to responses: it takes only the responses to requests of this publisher.
void take_responses_to(void *subscription, void *publisher);
// Makes a publisher of responses answer the last request that this subscription has taken.
void answer_requests_of(void *publisher, void *subscription);

// The id of the data writer of a publisher.
const eprosima::fastdds::rtps::GUID_t &guid_of(void *publisher);
// The identity of the last sample that a subscription has taken.
const eprosima::fastdds::rtps::SampleIdentity *taken_last(void *subscription);

// Runs `work` and returns its result. If `work` throws, stores the text of the exception in `error` and returns
// `failed`.
template <class Work, class Result> Result guarded(perf_test_error *error, Result failed, Work work) noexcept {
    try {
        return work();
    } catch (const std::exception &exception) {
        perf_test_fail(error, "%s", exception.what());
    } catch (...) {
        perf_test_fail(error, "Fast DDS has thrown an exception without a text");
    }
    return failed;
}
