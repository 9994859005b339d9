// The worker program of iceoryx whose subscriptions take messages, after they have waited by a wait set.
#include "backend.hpp"

int main(int argc, char **argv) { return run_worker(argc, argv, "iceoryx", PERF_TEST_PULL); }
