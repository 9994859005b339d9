// Publishers and subscriptions of messages that are plain bytes: time and id, 8 bytes each, and the payload.
#pragma once

#include "../python.hpp"

// eCAL in this process: the module endpoints.py, and Python objects for the names that each message needs.
struct Session {
    const perf_test_run *run = nullptr;
    Object module, send, buffer, topic_id, entity_id;
    bool zero_copy_mode = false;
};

extern const perf_test_publisher_functions PUBLISHER_FUNCTIONS;
extern const perf_test_subscription_functions SUBSCRIPTION_FUNCTIONS;
