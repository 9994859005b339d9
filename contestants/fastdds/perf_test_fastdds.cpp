// The worker program of Fast DDS whose subscriptions take messages, after they have waited by a wait set.

#include "backend.hpp"

int main(int argc, char **argv) { return run_worker(argc, argv, "fastdds", PERF_TEST_PULL); }
