// The worker program of iceoryx whose messages are taken by a listener.
#include "backend.hpp"

int main(int argc, char **argv) { return run_worker(argc, argv, "iceoryx-listener", PERF_TEST_PUSH); }
