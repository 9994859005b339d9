/* The back end of perf_test for Eclipse Cyclone DDS. */
#ifndef WORKER_H
#define WORKER_H

#include <stdbool.h>

/* Runs the program perf_test_<name>. With `listens`, the listeners of the readers deliver the messages. */
int worker_main(int argc, char **argv, const char *name, bool listens);

#endif
