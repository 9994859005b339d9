// Publishers and subscriptions, implemented by objects of endpoints.py.
#pragma once

#include "../python.hpp"

// Python in this process: the module endpoints.py, and Python objects for the names that each message needs.
struct Session {
    const perf_test_run *run = nullptr;
    Object module, payload, send, take, wait;
};

extern const perf_test_publisher_functions PUBLISHER_FUNCTIONS;
extern const perf_test_subscription_functions SUBSCRIPTION_FUNCTIONS;
