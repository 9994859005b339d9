// iceoryx as a back end of perf_test.
#pragma once

#include "perf_test_backend.h"

// Executes the command that the program's arguments give, and returns the exit code. `delivery` is PERF_TEST_PULL, or
// PERF_TEST_PUSH for subscriptions whose messages a listener takes.
int run_worker(int argc, char **argv, const char *name, uint32_t delivery);
