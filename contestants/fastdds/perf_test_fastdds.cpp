// The worker program of Fast DDS in which subscriptions wait in a wait set and take messages.

#include "backend.hpp"

int main(int argc, char **argv) { return run_worker(argc, argv, "fastdds", PERF_TEST_PULL); }
