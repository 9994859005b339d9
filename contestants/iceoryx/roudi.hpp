// RouDi, the daemon of iceoryx: one for the host, with the memory pools of the run.
#pragma once

#include "perf_test_backend.h"

// Adds RouDi to the daemons of the run. One that is running already serves the run, with its own memory pools.
void add_roudi(const perf_test_run *run, perf_test_daemons *daemons);

// Removes the files of dead workers, and those of RouDi if it is dead.
void remove_dead_files();

// The beginning of the runtime names of workers; their process id follows.
constexpr const char *RUNTIME_PREFIX = "perf_test_iceoryx_";
