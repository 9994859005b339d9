// The back end of ROS 2's rclcpp, over the RMW of the environment. Executors deliver the messages (push).
#include <cstdlib>
#include <cstring>
#include <string>
#include <string_view>

#include "endpoint.hpp"
#include "executor.hpp"
#include "guarded.hpp"
#include "profile.hpp"
#include "rclcpp/version.h"
#include "rmw.hpp"
#include "service.hpp"

namespace {

constexpr const char *OFF_ON[] = {"off", "on", nullptr};
const perf_test_setting SETTINGS[] = {
    {"executor", EXECUTORS, HAS_EVENTS_EXECUTOR ? "events" : nullptr,
     "the executor that delivers messages, one for each subscription"},
    {"intra-process", OFF_ON, nullptr, "within a process, rclcpp hands over pointers to messages"},
    {PROFILE, PROFILES, DATA_SHARING,
     "the profile of Fast DDS, unless the environment names one; other middlewares read none"},
};

void init(size_t domain_id) {
    rclcpp::InitOptions options;
    options.set_domain_id(domain_id);
    options.auto_initialize_logging(false); // a run leaves no log files
    rclcpp::init(0, nullptr, options, rclcpp::SignalHandlerOptions::None);
}

// True if the RMW of the environment loans messages of this type. The check is slow, because it joins the domain.
bool does_rmw_loan(const MessageType &type, size_t domain_id) {
    init(domain_id);
    const bool is_loaned = type.is_loaned(*std::make_shared<rclcpp::Node>("perf_test_loans"));
    rclcpp::shutdown();
    return is_loaned;
}

// ---- The run ----

// Returns the reason why rclcpp cannot execute the run; empty if it can.
std::string refusal(const perf_test_run &run) {
    const std::string message = run.message.name;
    const MessageType &type = find_message_type(run.message.type_name);
    if (!has_rmw()) {
        return rmw_name_and_version();
    }
    if (std::strcmp(run.message.layout, "2.x") != 0) {
        return std::string("rclcpp has the layout 2.x here: leave out --message-layout ") + run.message.layout;
    }
    if (is_intra_process(run) && run.zero_copy) {
        return "rclcpp loans no messages with intra-process=on, which hands over pointers: leave out --zero-copy "
               "or the setting";
    }
    if (is_intra_process(run) && run.qos.history == PERF_TEST_KEEP_ALL) {
        return "rclcpp has no KEEP_ALL with intra-process=on: use --keep-last";
    }
    if (is_intra_process(run) && run.qos.durability == PERF_TEST_TRANSIENT_LOCAL) {
        return "with intra-process=on rclcpp keeps no history for other processes: use --durability VOLATILE";
    }
    // In a topology, each subscription checks its own topic.
    if (is_intra_process(run) && run.publishers > 1 && run.message.last_id <= ID_MASK && run.executor == nullptr) {
        return "rclcpp does not tell publishers apart with intra-process=on, and the ids of " + message +
               " have no room for their numbers: use -p 1 or another message";
    }
    if (run.zero_copy && !does_rmw_loan(type, run.domain_id)) {
        return rmw_name_and_version() + " does not loan " + message +
               " as it is configured: leave out --zero-copy, or switch its shared memory on (Fast DDS: --set "
               "profile=data-sharing)";
    }
    return "";
}

int check(const perf_test_run *run, perf_test_daemons *, perf_test_error *error) {
    return guarded(error, -1, "check the run", [&] {
        use_profile(*run);
        const std::string sentence = refusal(*run);
        return sentence.empty() ? 0 : perf_test_fail(error, "%s", sentence.c_str());
    });
}

// Starts rclcpp. The run itself serves as the session.
void *open_session(const perf_test_run *run, perf_test_error *error) {
    return guarded<void *>(error, nullptr, "start", [&] {
        use_profile(*run);
        if (run->zero_copy) {
            setenv("ROS_DISABLE_LOANED_MESSAGES", "0", 0); // from Iron on, loans of subscriptions are off by default
        }
        init(run->domain_id);
        return const_cast<perf_test_run *>(run);
    });
}

void close_session(void *) {
    perf_test_error ignored;
    guarded(&ignored, false, "end", [] { return rclcpp::shutdown(); });
}

// The requested options are in effect: an endpoint that cannot apply them is not created (check_qos).
void effective(void *session, perf_test_effective *effective) {
    const auto *run = static_cast<const perf_test_run *>(session);
    for (size_t i = 0; i < run->option_count; i++) {
        perf_test_effective_set(effective, run->options[i].name, run->options[i].value);
    }
    for (const perf_test_setting &setting : SETTINGS) {
        const char *asked = perf_test_run_setting(run, setting.name);
        for (const char *const *value = setting.values; asked != nullptr && *value != nullptr; value++) {
            if (std::strcmp(asked, *value) == 0) {
                perf_test_effective_set(effective, setting.name, asked);
            }
        }
    }
}

// ---- Endpoints ----

// `Base` is Sender or Receiver: a pointer to an endpoint in the C interface points to one of these base classes.
template <class Base> void destroy(void *endpoint) {
    perf_test_error ignored;
    guarded(&ignored, false, "destroy an endpoint", [&] { return delete static_cast<Base *>(endpoint), true; });
}

template <class Base> int64_t matched(void *endpoint, perf_test_error *error) {
    return guarded<int64_t>(error, -1, "count endpoints",
                            [&] { return static_cast<int64_t>(static_cast<Base *>(endpoint)->matched()); });
}

void *create_publisher(void *, const perf_test_run *run, const perf_test_endpoint *endpoint, perf_test_error *error) {
    return guarded<void *>(error, nullptr, "create a publisher", [&]() -> void * {
        auto publisher = find_message_type(endpoint->message.type_name).publisher({*run, *endpoint});
        check_qos(endpoint->qos, publisher->base().get_actual_qos());
        return static_cast<Sender *>(publisher.release());
    });
}

int publish(void *publisher, perf_test_draft *draft, perf_test_sent *sent, perf_test_error *error) {
    return guarded(error, -1, "publish", [&] { return static_cast<Sender *>(publisher)->publish(draft, sent), 0; });
}

bool source(void *publisher, uint8_t id[16]) {
    perf_test_error ignored;
    return guarded(&ignored, false, "tell its GID", [&] { return static_cast<Sender *>(publisher)->source(id); });
}

void *create_subscription(void *, const perf_test_run *run, const perf_test_endpoint *endpoint,
                          perf_test_error *error) {
    return guarded<void *>(error, nullptr, "create a subscription", [&]() -> void * {
        auto subscription = find_message_type(endpoint->message.type_name).subscription({*run, *endpoint});
        check_qos(endpoint->qos, subscription->base().get_actual_qos());
        return static_cast<Receiver *>(subscription.release());
    });
}

int start(void *subscription, perf_test_sink *sink, perf_test_error *error) {
    return guarded(error, -1, "start an executor", [&] { return subscription_of(subscription).start(sink), 0; });
}

int stop(void *subscription, perf_test_error *error) {
    return guarded(error, -1, "stop an executor", [&] { return subscription_of(subscription).stop(), 0; });
}

// ---- The description ----

std::string version() {
    const char *distribution = std::getenv("ROS_DISTRO");
    return RCLCPP_VERSION_STR + (distribution == nullptr ? "" : std::string(" ") + distribution) + ", " +
           rmw_name_and_version();
}

// Returns `content` if the RMW of the environment loans messages of this type, otherwise 0.
uint32_t if_loaned(uint32_t content, const char *type) {
    perf_test_error ignored;
    return guarded(&ignored, 0u, "ask for loans",
                   [&] { return does_rmw_loan(find_message_type(type), RCL_DEFAULT_DOMAIN_ID) ? content : 0u; });
}

// Returns the contents that the RMW loans with the profile data-sharing. A run with another profile may loan fewer;
// `check` refuses it.
uint32_t loaned_contents() {
    use_data_sharing();
    return has_rmw() ? if_loaned(PERF_TEST_PLAIN, "performance_test/msg/Array1k") |
                           if_loaned(PERF_TEST_FIELDS, "performance_test/msg/PointCloud1m")
                     : 0;
}

} // namespace

int main(int argc, char **argv) {
    const std::string of_middleware = version();
    // Asking the RMW for its loans costs time and memory, so only the description has exact values; `check` asks for
    // the message of its run.
    const bool is_description = argc == 2 && std::string_view(argv[1]) == "describe";
    perf_test_backend backend{};
    backend.version = PERF_TEST_BACKEND_VERSION;
    backend.name = "rclcpp";
    backend.middleware_version = of_middleware.c_str();
    perf_test_capabilities &can = backend.capabilities;
    can.zero_copy = is_description ? loaned_contents() : PERF_TEST_PLAIN | PERF_TEST_FIELDS;
    can.reliability = PERF_TEST_RELIABLE | PERF_TEST_BEST_EFFORT;
    can.durability = PERF_TEST_VOLATILE | PERF_TEST_TRANSIENT_LOCAL;
    can.history = PERF_TEST_KEEP_LAST | PERF_TEST_KEEP_ALL;
    can.wait = PERF_TEST_ADAPTIVE;
    can.delivery = PERF_TEST_PUSH;
    can.matching = PERF_TEST_MATCHING_COUNT;
    can.copies = true;
    can.sources = true;
    backend.settings = SETTINGS;
    backend.setting_count = sizeof SETTINGS / sizeof *SETTINGS;
    backend.check = check;
    backend.open = open_session;
    backend.close = close_session;
    backend.effective = effective;
    backend.publisher.matched = {matched<Sender>, nullptr, nullptr, destroy<Sender>};
    backend.publisher.create = create_publisher;
    backend.publisher.publish = publish;
    backend.publisher.source = source;
    backend.subscription.matched = {matched<Receiver>, nullptr, nullptr, destroy<Receiver>};
    backend.subscription.create = create_subscription;
    backend.subscription.start = start;
    backend.subscription.stop = stop;
#if HAS_SERVICES
    backend.create_client = create_client;
    backend.create_server = create_server;
#endif
    backend.executors = EXECUTORS;
    backend.executor = EXECUTOR_FUNCTIONS;
    return perf_test_worker_main(argc, argv, &backend);
}
