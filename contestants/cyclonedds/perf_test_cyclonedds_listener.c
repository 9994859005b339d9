#include "worker.h"

int main(int argc, char **argv) { return worker_main(argc, argv, "cyclonedds-listener", true); }
