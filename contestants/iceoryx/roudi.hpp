// RouDi, the daemon of iceoryx. A host has one RouDi; it starts with the memory pools of the run.
#pragma once

#include "perf_test_backend.h"

// Adds RouDi to the daemons of the run, unless the program with the other endpoints has started one. Returns -1 if an
// unrelated RouDi runs.
int add_roudi(const perf_test_run *run, perf_test_daemons *daemons, perf_test_error *error);
