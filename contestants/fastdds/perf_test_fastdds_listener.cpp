// The worker program of Fast DDS whose subscriptions are listeners.

#include "backend.hpp"

int main(int argc, char **argv) { return run_worker(argc, argv, "fastdds-listener", PERF_TEST_PUSH); }
