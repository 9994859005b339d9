/* The back end of perf_test for Eclipse Cyclone DDS. */
#ifndef WORKER_H
#define WORKER_H

#include <stdbool.h>

/* The program perf_test_<name>. `listens`: messages are delivered by the listeners of their readers. */
int worker_main(int argc, char **argv, const char *name, bool listens);

#endif
