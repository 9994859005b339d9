#include "worker.h"

#include <dds/version.h>

#include "endpoint.h"

static const char *const EXECUTORS[] = {EXECUTOR_NAME, NULL};

int worker_main(int argc, char **argv, const char *name, bool listens) {
    perf_test_backend backend = {
        .version = PERF_TEST_BACKEND_VERSION,
        .name = name,
        .middleware_version = DDS_VERSION,
        .capabilities = {.zero_copy = PERF_TEST_PLAIN | PERF_TEST_FIELDS,
                         .reliability = PERF_TEST_RELIABLE | PERF_TEST_BEST_EFFORT,
                         .durability = PERF_TEST_TRANSIENT_LOCAL | PERF_TEST_VOLATILE,
                         .history = PERF_TEST_KEEP_LAST | PERF_TEST_KEEP_ALL,
                         .wait = PERF_TEST_SPIN | PERF_TEST_BLOCK | PERF_TEST_ADAPTIVE,
                         .delivery = listens ? PERF_TEST_PUSH : PERF_TEST_PULL,
                         .matching = PERF_TEST_MATCHING_COUNT,
                         .copies = true,
                         .sources = true,
                         .raw = true,
                         .phases = true},
        .settings = SETTINGS,
        .setting_count = SETTING_COUNT,
        .check = check_run,
        .clean_up = clean_up,
        .open = open_session,
        .close = close_session,
        .effective = effective_options,
        .publisher = PUBLISHER,
        .subscription = listens ? LISTENING_SUBSCRIPTION : SUBSCRIPTION,
    };
    /* Services and executors use wait sets, so the program with listeners has neither. */
    if (!listens) {
        backend.create_client = create_client;
        backend.create_server = create_server;
        backend.executors = EXECUTORS;
        backend.executor = EXECUTOR;
    }
    return perf_test_worker_main(argc, argv, &backend);
}
