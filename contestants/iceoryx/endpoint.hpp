// Publishers and subscriptions of messages that are plain bytes: time and id, 8 bytes each, and the payload.
#pragma once

#include "perf_test_backend.h"

extern const perf_test_publisher_functions PUBLISHER_FUNCTIONS;
extern const perf_test_subscription_functions SUBSCRIPTION_FUNCTIONS;
