// Publishers and subscriptions of messages that are plain bytes: time and id, 8 bytes each, and the payload.
#pragma once

#include <exception>

#include "iceoryx_posh/popo/untyped_subscriber.hpp"
#include "perf_test_backend.h"

// Fails with the text of the exception that is being caught. `action` is a phrase such as "create a publisher".
inline int fail_with_exception(perf_test_error *error, const char *action) {
    try {
        throw;
    } catch (const std::exception &reason) {
        return perf_test_fail(error, "iceoryx cannot %s: %s", action, reason.what());
    } catch (...) {
        return perf_test_fail(error, "iceoryx cannot %s: it has thrown an exception without a text", action);
    }
}

extern const perf_test_publisher_functions PUBLISHER_FUNCTIONS;
extern const perf_test_subscription_functions SUBSCRIPTION_FUNCTIONS;
extern const perf_test_subscription_functions LISTENER_FUNCTIONS;

// Creates a subscription without a wait set; nullptr if this fails. It receives nothing until its port subscribes.
void *create_unsubscribed(const perf_test_run *run, const perf_test_endpoint *plan, perf_test_error *error);
// Returns the iceoryx subscriber of a subscription.
iox::popo::UntypedSubscriber &port_of(void *subscription);
