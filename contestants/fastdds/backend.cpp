#include "backend.hpp"

#include <fastdds/config.hpp>

#include <exception>

#include "endpoint.hpp"
#include "session.hpp"
#include "stale_files.hpp"

namespace {

// The library counts the bytes of a data-sharing segment in 32 bits, so a segment must be smaller than this.
constexpr uint64_t MAX_POOL_BYTES = UINT64_C(4) << 30;

const char *const PUBLISHING_NAMES[] = {"sync", "async", nullptr};

const char *const EXECUTOR_NAMES[] = {"wait-set", nullptr};

const perf_test_setting SETTINGS[] = {
    {"transport", TRANSPORT_NAMES, "data-sharing",
     "the way of messages: default is direct delivery within a process, data sharing of types of bounded size, and "
     "shared memory or UDP for others; large-data is the same with the library's transports for LARGE_DATA; udp (with "
     "large socket buffers), shm (in one piece) and data-sharing are these alone; intra-process is direct delivery "
     "within a process, with one pool of memory instead of data sharing"},
    {"publishing", PUBLISHING_NAMES, nullptr,
     "the thread that sends: sync, the library's default, is the publishing thread, async one of the library"},
};

int check_data_sharing(const perf_test_run *run, bool is_bounded, perf_test_error *error) {
    if (!is_bounded)
        return perf_test_fail(error, "Fast DDS shares only data of bounded size, and %s has none: use "
                              "--set transport=default or transport=shm", run->message.name);
    bool keeps_last = run->qos.history == PERF_TEST_KEEP_LAST;
    if (!keeps_last || (run->qos.depth + UINT64_C(2)) * run->message.bytes < MAX_POOL_BYTES) return 0;
    return perf_test_fail(error, "Fast DDS's data sharing has less than 4 GiB for a history, and %u messages of %llu "
                          "bytes are asked for: use a smaller --history-depth or --set transport=shm", run->qos.depth,
                          static_cast<unsigned long long>(run->message.bytes));
}

// Refuses --zero-copy where Fast DDS copies loans. UDP and the transport in shared memory copy them. Within a process,
// direct delivery copies a message out of the pool that a publisher with data sharing has.
int check_loans(const perf_test_run *run, Transport transport, bool is_plain, perf_test_error *error) {
    if (!is_plain)
        return perf_test_fail(error, "Fast DDS loans only plain types, and %s is not plain: leave out --zero-copy",
                              run->message.name);
    if (transport == Transport::DATA_SHARING) return 0;
    bool is_one_process = run->strategy != PERF_TEST_INTER_PROCESS;
    if (is_one_process ? transport == Transport::INTRA_PROCESS : chooses_data_sharing(transport)) return 0;
    return perf_test_fail(error, "Fast DDS copies loans with transport=%s and these processes: leave out --zero-copy, "
                          "or use --set transport=data-sharing%s", TRANSPORT_NAMES[static_cast<int>(transport)],
                          is_one_process ? " or transport=intra-process" : "");
}

int check(const perf_test_run *run, perf_test_daemons *, perf_test_error *error) {
    return guarded(error, -1, [&] {
        Type type{MessageType::find(run->message, run->raw), {}};
        if (!type.message) return perf_test_fail(error, "Fast DDS's types have no message %s", run->message.name);
        if (run->qos.depth > INT32_MAX)
            return perf_test_fail(error, "Fast DDS keeps at most %d samples: use a smaller --history-depth", INT32_MAX);
        type.support.reset(type.message->create_support());
        Transport transport;
        // An unknown transport is refused later, by `open`.
        if (!parse_transport(perf_test_run_setting(run, "transport"), &transport)) return 0;
        if (run->zero_copy && check_loans(run, transport, type.is_loanable(), error) != 0) return -1;
        return transport == Transport::DATA_SHARING ? check_data_sharing(run, type.support->is_bounded(), error) : 0;
    });
}

int clean_up(const perf_test_run *, perf_test_error *error) {
    return guarded(error, -1, [] { return remove_stale_files(), 0; });
}

void *open_session(const perf_test_run *run, perf_test_error *error) {
    return guarded(error, static_cast<void *>(nullptr), [&]() -> void * { return new Session(*run); });
}

void close_session(void *session) { delete static_cast<Session *>(session); }

void effective(void *session, perf_test_effective *effective) { static_cast<Session *>(session)->effective(effective); }

perf_test_backend describe(const char *name, uint32_t delivery) {
    perf_test_backend backend = {};
    backend.version = PERF_TEST_BACKEND_VERSION;
    backend.name = name;
    backend.middleware_version = FASTDDS_VERSION_STR;
    perf_test_capabilities &can = backend.capabilities;
    can.zero_copy = PERF_TEST_PLAIN | PERF_TEST_FIELDS;
    can.reliability = PERF_TEST_RELIABLE | PERF_TEST_BEST_EFFORT;
    can.durability = PERF_TEST_VOLATILE | PERF_TEST_TRANSIENT_LOCAL;
    can.history = PERF_TEST_KEEP_LAST | PERF_TEST_KEEP_ALL;
    can.wait = PERF_TEST_SPIN | PERF_TEST_BLOCK | PERF_TEST_ADAPTIVE;
    can.delivery = delivery;
    can.matching = PERF_TEST_MATCHING_COUNT;
    can.copies = can.sources = can.raw = can.phases = true;
    backend.settings = SETTINGS;
    backend.setting_count = sizeof SETTINGS / sizeof SETTINGS[0];
    backend.check = check;
    backend.clean_up = clean_up;
    backend.open = open_session;
    backend.close = close_session;
    backend.effective = effective;
    backend.publisher = PUBLISHER_FUNCTIONS;
    if (delivery == PERF_TEST_PUSH) {
        backend.subscription = LISTENER_FUNCTIONS;
        return backend;
    }
    backend.subscription = SUBSCRIPTION_FUNCTIONS;
    backend.create_client = create_client;
    backend.create_server = create_server;
    backend.executors = EXECUTOR_NAMES;
    backend.executor = EXECUTOR_FUNCTIONS;
    return backend;
}

} // namespace

int run_worker(int argc, char **argv, const char *name, uint32_t delivery) {
    static const perf_test_backend backend = describe(name, delivery);
    return perf_test_worker_main(argc, argv, &backend);
}
