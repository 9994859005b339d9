// The back end of perf_test for Eclipse iceoryx.
#pragma once

#include "perf_test_backend.h"

// Runs the command in the program's arguments, and returns the exit code. `delivery` is PERF_TEST_PUSH if a listener
// takes the messages, and PERF_TEST_PULL otherwise.
int run_worker(int argc, char **argv, const char *name, uint32_t delivery);
