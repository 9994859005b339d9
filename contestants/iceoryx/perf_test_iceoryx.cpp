// The worker program of iceoryx whose subscriptions wait with a wait set, then take their messages.
#include "backend.hpp"

int main(int argc, char **argv) { return run_worker(argc, argv, "iceoryx", PERF_TEST_PULL); }
