/* The DDS domain of this process: its configuration and its participant. */
#ifndef SESSION_H
#define SESSION_H

#include <dds/dds.h>

#include "perf_test_backend.h"

extern const perf_test_setting SETTINGS[];
enum { SETTING_COUNT = 2 };

struct session {
    const perf_test_run *run;
    dds_entity_t domain, participant;
    bool shares_memory; /* messages go through iceoryx */
};

/* Returns 0 if messages with this QoS can go through shared memory, and -1 otherwise. */
int check_shared_qos(const perf_test_qos *qos, perf_test_error *error);
int check_run(const perf_test_run *run, perf_test_daemons *daemons, perf_test_error *error);
int clean_up(const perf_test_run *run, perf_test_error *error);
void *open_session(const perf_test_run *run, perf_test_error *error);
void close_session(void *session);
void effective_options(void *session, perf_test_effective *effective);

#endif
