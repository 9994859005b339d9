// The back end of Eclipse iceoryx by its untyped interface: a message is a chunk of bytes that holds a struct.
#include <string>

#include <unistd.h>

#include "../roudi.h"
#include "backend.hpp"
#include "endpoint.hpp"
#include "iceoryx_posh/iceoryx_posh_types.hpp"
#include "iceoryx_posh/runtime/posh_runtime.hpp"
#include "iceoryx_versions.hpp"
#include "iox/logging.hpp"
#include "roudi.hpp"

namespace {

constexpr const char *TRANSPORT = "transport";
constexpr const char *SHARED_MEMORY = "shared-memory";

int check(const perf_test_run *run, perf_test_daemons *daemons, perf_test_error *error) try {
    bool is_constant = run->message.content == PERF_TEST_PLAIN || run->message.content == PERF_TEST_BOUNDED_SEQUENCE;
    if (!is_constant && !run->raw) return perf_test_fail(error, "iceoryx has no types of variable size: add --raw");
    bool is_kept = run->qos.durability == PERF_TEST_TRANSIENT_LOCAL;
    if (is_kept && (run->qos.history == PERF_TEST_KEEP_ALL || run->qos.depth > iox::MAX_PUBLISHER_HISTORY))
        return perf_test_fail(error, "iceoryx keeps at most %u messages for late subscriptions: give --history "
                              "KEEP_LAST and a smaller --history-depth", unsigned(iox::MAX_PUBLISHER_HISTORY));
    return add_roudi(run, daemons, error);
} catch (...) {
    return fail_with_exception(error, "check the run");
}

int clean_up(const perf_test_run *, perf_test_error *) { return roudi_clean_up(), 0; }

// Starts iceoryx's runtime, which belongs to the whole process. The run itself serves as the session.
void *open_session(const perf_test_run *run, perf_test_error *error) try {
    // With its default level, the library logs every step.
    iox::log::Logger::init(iox::log::LogLevel::Warn);
    std::string name = "perf_test_iceoryx_" + std::to_string(getpid());
    iox::runtime::PoshRuntime::initRuntime(iox::RuntimeName_t(iox::TruncateToCapacity, name.c_str()));
    return const_cast<perf_test_run *>(run);
} catch (...) {
    return fail_with_exception(error, "start"), nullptr;
}

// All requested options are in effect: `check` and the capabilities have excluded every other one.
void effective(void *session, perf_test_effective *effective) {
    const auto *run = static_cast<const perf_test_run *>(session);
    perf_test_effective_set(effective, TRANSPORT, SHARED_MEMORY);
    for (size_t i = 0; i < run->option_count; i++)
        perf_test_effective_set(effective, run->options[i].name, run->options[i].value);
}

perf_test_backend describe(const char *name, uint32_t delivery) {
    static const char *const transports[] = {SHARED_MEMORY, nullptr};
    static const perf_test_setting settings[] = {
        {TRANSPORT, transports, nullptr, "messages go through shared memory"},
    };
    perf_test_backend backend = {};
    backend.version = PERF_TEST_BACKEND_VERSION;
    backend.name = name;
    backend.middleware_version = ICEORYX_LATEST_RELEASE_VERSION;
    perf_test_capabilities &can = backend.capabilities;
    can.zero_copy = PERF_TEST_PLAIN | PERF_TEST_BOUNDED_SEQUENCE; // with --raw, all other messages are plain
    can.reliability = PERF_TEST_RELIABLE | PERF_TEST_BEST_EFFORT;
    can.durability = PERF_TEST_TRANSIENT_LOCAL | PERF_TEST_VOLATILE;
    can.history = PERF_TEST_KEEP_LAST | PERF_TEST_KEEP_ALL;
    can.history_depth_max = iox::MAX_SUBSCRIBER_QUEUE_CAPACITY;
    can.wait = PERF_TEST_SPIN | PERF_TEST_BLOCK | PERF_TEST_ADAPTIVE;
    can.delivery = delivery;
    can.matching = PERF_TEST_MATCHING_ANY;
    can.copies = can.sources = can.raw = can.phases = true;
    backend.settings = settings;
    backend.setting_count = sizeof settings / sizeof *settings;
    backend.check = check;
    backend.clean_up = clean_up;
    backend.open = open_session;
    backend.effective = effective;
    backend.publisher = PUBLISHER_FUNCTIONS;
    backend.subscription = delivery == PERF_TEST_PUSH ? LISTENER_FUNCTIONS : SUBSCRIPTION_FUNCTIONS;
    return backend;
}

} // namespace

int run_worker(int argc, char **argv, const char *name, uint32_t delivery) {
    static const perf_test_backend backend = describe(name, delivery);
    return perf_test_worker_main(argc, argv, &backend);
}
