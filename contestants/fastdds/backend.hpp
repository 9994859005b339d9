// Fast DDS as a back end of perf_test.

#pragma once

#include "perf_test_backend.h"

// Runs the worker with the arguments of the program, and returns the exit code. `delivery` is PERF_TEST_PULL, or
// PERF_TEST_PUSH for listeners.
int run_worker(int argc, char **argv, const char *name, uint32_t delivery);
