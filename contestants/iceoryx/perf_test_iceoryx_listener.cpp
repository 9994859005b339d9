// The worker program of iceoryx in which a listener takes the messages.
#include "backend.hpp"

int main(int argc, char **argv) { return run_worker(argc, argv, "iceoryx-listener", PERF_TEST_PUSH); }
