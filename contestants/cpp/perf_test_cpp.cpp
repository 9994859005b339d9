// The back end of Gantry's C++ interface: typed publishers and subscriptions over libgantry.so, as in a user's program.
#include <cstdlib>

#include "endpoint.hpp"

namespace {

constexpr const char *TRANSPORT = "transport";
constexpr const char *SHARED_MEMORY = "shared-memory";

int check(const perf_test_run *run, perf_test_daemons *, perf_test_error *error) {
    if (strcmp(run->message.layout, "1.x") != 0) return 0;
    return perf_test_fail(error, "perf_test_cpp has only the messages of layout 2.x: leave out --message-layout 1.x");
}

// A process that joins a domain removes the files of dead processes.
int clean_up(const perf_test_run *run, perf_test_error *error) {
    gantry::NodeOptions options;
    options.domain_id = run->domain_id;
    const auto node = gantry::Node::create("perf_test_coordinator", options);
    return node ? 0 : perf_test_fail(error, "%s", node.error().message.c_str());
}

// The run itself serves as the session: each endpoint creates its own node.
void *open_session(const perf_test_run *run, perf_test_error *) { return const_cast<perf_test_run *>(run); }

// All requested options are in effect: the capabilities have excluded every other one.
void effective(void *session, perf_test_effective *effective) {
    const auto *run = static_cast<const perf_test_run *>(session);
    perf_test_effective_set(effective, TRANSPORT, SHARED_MEMORY);
    for (size_t i = 0; i < run->option_count; i++)
        perf_test_effective_set(effective, run->options[i].name, run->options[i].value);
}

} // namespace

int main(int argc, char **argv) {
    setenv("GANTRY_LOG", "error", 0); // perf_test reports mismatches itself
    static const char *const transports[] = {SHARED_MEMORY, nullptr};
    static const perf_test_setting settings[] = {{TRANSPORT, transports, nullptr, "messages go through shared memory"}};
    static perf_test_backend backend = {};
    backend.version = PERF_TEST_BACKEND_VERSION;
    backend.name = "cpp";
    backend.middleware_version = gantry_version();
    perf_test_capabilities &can = backend.capabilities;
    can.zero_copy = PERF_TEST_PLAIN | PERF_TEST_FIELDS | PERF_TEST_BOUNDED_SEQUENCE | PERF_TEST_SEQUENCE | PERF_TEST_TEXT;
    can.reliability = PERF_TEST_RELIABLE | PERF_TEST_BEST_EFFORT;
    can.durability = PERF_TEST_TRANSIENT_LOCAL | PERF_TEST_VOLATILE;
    can.history = PERF_TEST_KEEP_LAST | PERF_TEST_KEEP_ALL;
    can.wait = PERF_TEST_SPIN | PERF_TEST_BLOCK | PERF_TEST_ADAPTIVE;
    can.delivery = PERF_TEST_PULL;
    can.matching = PERF_TEST_MATCHING_COUNT;
    can.copies = can.sources = true;
    backend.settings = settings;
    backend.setting_count = sizeof settings / sizeof *settings;
    backend.check = check;
    backend.clean_up = clean_up;
    backend.open = open_session;
    backend.effective = effective;
    backend.publisher = PUBLISHER_FUNCTIONS;
    backend.subscription = SUBSCRIPTION_FUNCTIONS;
    return perf_test_worker_main(argc, argv, &backend);
}
