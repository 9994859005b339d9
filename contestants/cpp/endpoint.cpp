#include "endpoint.hpp"

namespace {

int fail(perf_test_error *error, const gantry::error &why) { return perf_test_fail(error, "%s", why.message.c_str()); }

const MessageType *type_of(const perf_test_endpoint &plan) {
    for (const MessageType *const *table = MESSAGE_TYPES; *table; table++)
        for (const MessageType *type = *table; type->name; type++)
            if (strcmp(type->name, plan.message.type_name) == 0) return type;
    return nullptr;
}

template <class Made> void *give(gantry::result<std::unique_ptr<Made>> made, perf_test_error *error) {
    if (!made) return fail(error, made.error()), nullptr;
    return (*made).release();
}

int64_t matched(void *endpoint, perf_test_error *error) {
    const auto count = static_cast<Endpoint *>(endpoint)->matched();
    return count ? static_cast<int64_t>(*count) : fail(error, count.error());
}

void mismatches(void *endpoint, perf_test_sentences *sentences) {
    const auto found = static_cast<Endpoint *>(endpoint)->mismatches();
    if (!found) return;
    for (const auto &sentence : *found) perf_test_sentences_add(sentences, sentence.c_str());
}

void destroy(void *endpoint) { delete static_cast<Endpoint *>(endpoint); }

void *create_publisher(void *, const perf_test_run *run, const perf_test_endpoint *plan, perf_test_error *error) {
    const MessageType *type = type_of(*plan);
    if (!type) return perf_test_fail(error, "perf_test_cpp has no message %s", plan->message.type_name), nullptr;
    return give(type->publisher(*run, *plan), error);
}

int publish(void *endpoint, perf_test_draft *draft, perf_test_sent *sent, perf_test_error *error) {
    auto &publisher = *static_cast<Publisher *>(static_cast<Endpoint *>(endpoint));
    auto published = publisher.publish(draft);
    if (!published) return fail(error, published.error());
    sent->loaned = publisher.is_loaned;
    return 0;
}

bool source(void *endpoint, uint8_t source[16]) {
    memcpy(source, static_cast<Publisher *>(static_cast<Endpoint *>(endpoint))->gid.bytes, 16);
    return true;
}

Subscription &as_subscription(void *endpoint) { return *static_cast<Subscription *>(static_cast<Endpoint *>(endpoint)); }

void *create_subscription(void *, const perf_test_run *run, const perf_test_endpoint *plan, perf_test_error *error) {
    const MessageType *type = type_of(*plan);
    if (!type) return perf_test_fail(error, "perf_test_cpp has no message %s", plan->message.type_name), nullptr;
    return give(type->subscription(*run, *plan), error);
}

int take(void *endpoint, perf_test_taken *taken, perf_test_error *error) {
    auto is_taken = as_subscription(endpoint).take(taken);
    return is_taken ? *is_taken : fail(error, is_taken.error());
}

void release(void *endpoint) { as_subscription(endpoint).release(); }

int wait(void *endpoint, int64_t timeout_ns, perf_test_error *error) {
    const auto waited = as_subscription(endpoint).wait(std::chrono::nanoseconds(timeout_ns));
    if (waited) return 0;
    // `mismatches` reports publishers that do not match.
    const gantry_status status = waited.error().status;
    return status == GANTRY_TYPE_MISMATCH || status == GANTRY_INCOMPATIBLE_QOS ? 0 : fail(error, waited.error());
}

uint64_t overwritten(void *endpoint) { return as_subscription(endpoint).overwritten(); }

} // namespace

gantry::result<gantry::Node> node_of(const perf_test_run &run, const perf_test_endpoint &plan) {
    const char *kind = plan.kind == PERF_TEST_PUBLISHER ? "publisher" : "subscription";
    gantry::NodeOptions options;
    options.domain_id = run.domain_id;
    return gantry::Node::create("perf_test_" + std::string(kind) + "_" + std::to_string(plan.index), options);
}

gantry::QoS qos_of(const perf_test_qos &qos) {
    gantry::QoS made(qos.depth);
    if (qos.history == PERF_TEST_KEEP_ALL) made.keep_all();
    if (qos.reliability == PERF_TEST_BEST_EFFORT) made.best_effort();
    if (qos.durability == PERF_TEST_TRANSIENT_LOCAL) made.transient_local();
    return made;
}

const perf_test_publisher_functions PUBLISHER_FUNCTIONS = {
    {matched, mismatches, nullptr, destroy}, create_publisher, publish, source};
const perf_test_subscription_functions SUBSCRIPTION_FUNCTIONS = {
    {matched, mismatches, nullptr, destroy}, create_subscription, take, release, wait, nullptr, nullptr, overwritten};
