#include "endpoint.hpp"

#include <atomic>
#include <cstdlib>
#include <cstring>
#include <map>
#include <memory>
#include <new>
#include <optional>
#include <string>

#include "iceoryx_posh/mepoo/chunk_header.hpp"
#include "iceoryx_posh/popo/untyped_publisher.hpp"
#include "iceoryx_posh/popo/untyped_subscriber.hpp"
#include "iceoryx_posh/popo/wait_set.hpp"
#include "iceoryx_posh/runtime/service_discovery.hpp"

namespace {

using iox::mepoo::ChunkHeader;

// The first fields of a message. All machines on which iceoryx and perf_test run are little-endian.
struct Head {
    int64_t time_ns;
    uint64_t id;
};

// The user's own message, for the copy path; empty with zero copy. It is written once before the run. Otherwise all its
// pages would be the kernel's one page of zeros, and copies of this page would come from the cache.
struct OwnMessage {
    void *bytes = nullptr;

    bool allocate(const perf_test_run *run, uint64_t size) {
        if (run->zero_copy) return true;
        bytes = std::malloc(size);
        if (bytes) std::memset(bytes, 1, size);
        return bytes;
    }
    ~OwnMessage() { std::free(bytes); }
};

// Returns the name of a topic in iceoryx: the message type, the domain and the topic.
iox::capro::ServiceDescription service(const perf_test_run *run, const perf_test_endpoint *plan) {
    using iox::capro::IdString_t;
    auto text = [](const std::string &name) { return IdString_t(iox::TruncateToCapacity, name.c_str()); };
    return {text(plan->message.type_name), text(std::to_string(run->domain_id)), text(plan->topic)};
}

// Returns the reason why iceoryx cannot carry the endpoint's topic or message; NULL if it can.
const char *refusal(const perf_test_endpoint *plan) {
    if (std::strlen(plan->topic) > iox::capro::IdString_t::capacity()) return "has a topic of more than 100 characters";
    if (plan->message.bytes < sizeof(Head)) return "has a message of less than 16 bytes";
    return nullptr;
}

void write_source(const iox::popo::UniquePortId &port, uint8_t source[16]) {
    auto id = static_cast<uint64_t>(port);
    std::memcpy(source, &id, sizeof id);
}

// ---- Publishers ----

struct Publisher {
    Publisher(const perf_test_run *run, const perf_test_endpoint *plan, const iox::popo::PublisherOptions &options)
        : bytes(plan->message.bytes), last_id(plan->message.last_id), marks(run->phases && !run->zero_copy),
          port(service(run, plan), options) {}

    uint64_t bytes;
    uint64_t last_id;
    bool marks; // whether the end of the copy is recorded
    OwnMessage own;
    iox::popo::UntypedPublisher port;
};

void *create_publisher(void *, const perf_test_run *run, const perf_test_endpoint *plan, perf_test_error *error) try {
    if (const char *reason = refusal(plan)) return perf_test_fail(error, "iceoryx %s", reason), nullptr;
    iox::popo::PublisherOptions options;
    if (plan->qos.durability == PERF_TEST_TRANSIENT_LOCAL) options.historyCapacity = plan->qos.depth;
    if (plan->qos.reliability == PERF_TEST_RELIABLE && plan->qos.history == PERF_TEST_KEEP_ALL)
        options.subscriberTooSlowPolicy = iox::popo::ConsumerTooSlowPolicy::WAIT_FOR_CONSUMER;
    std::unique_ptr<Publisher> self(new (std::nothrow) Publisher(run, plan, options));
    if (!self || !self->own.allocate(run, self->bytes)) return perf_test_fail(error, "there is no memory"), nullptr;
    return self.release();
} catch (...) {
    return fail_with_exception(error, "create a publisher"), nullptr;
}

int64_t publisher_matched(void *publisher, perf_test_error *) {
    return static_cast<Publisher *>(publisher)->port.hasSubscribers();
}

bool publisher_source(void *publisher, uint8_t source[16]) {
    return write_source(static_cast<Publisher *>(publisher)->port.getUid(), source), true;
}

void write_message(void *message, const Publisher &self, perf_test_draft *draft) {
    perf_test_draft_write(draft, static_cast<uint8_t *>(message) + sizeof(Head), self.bytes - sizeof(Head));
    perf_test_stamp stamp = perf_test_draft_stamp(draft);
    Head head = {stamp.time_ns, stamp.id & self.last_id};
    std::memcpy(message, &head, sizeof head);
}

int publish(void *publisher, perf_test_draft *draft, perf_test_sent *sent, perf_test_error *error) try {
    auto &self = *static_cast<Publisher *>(publisher);
    if (self.own.bytes) write_message(self.own.bytes, self, draft);
    auto loan = self.port.loan(static_cast<uint32_t>(self.bytes));
    if (loan.has_error())
        return perf_test_fail(error, "iceoryx loans no chunk of %llu bytes (error %d): the memory pools of RouDi are "
                              "too small or in use", static_cast<unsigned long long>(self.bytes),
                              int(loan.error()));
    void *chunk = loan.value();
    if (self.own.bytes) std::memcpy(chunk, self.own.bytes, self.bytes);
    else write_message(chunk, self, draft);
    if (self.marks) sent->serialised_ns = perf_test_now_ns();
    self.port.publish(chunk);
    sent->loaned = !self.own.bytes;
    return 0;
} catch (...) {
    return fail_with_exception(error, "publish");
}

void destroy_publisher(void *publisher) { delete static_cast<Publisher *>(publisher); }

// ---- Subscriptions ----

struct Subscription {
    Subscription(const perf_test_run *run, const perf_test_endpoint *plan, const iox::popo::SubscriberOptions &options)
        : bytes(plan->message.bytes), marks(run->phases && !run->zero_copy), topic(service(run, plan)),
          port(topic, options) {}

    ~Subscription() {
        // A chunk can be released only while its port exists.
        if (held) port.release(held);
    }

    uint64_t bytes;
    bool marks; // whether the beginning of the copy is recorded
    // The counter of overwritten messages. A listener's thread increments it, and the instrument reads it.
    std::atomic<uint64_t> overwritten{0};
    // For each publisher, the sequence number after its last message. A gap is the number of messages that left the
    // queue.
    std::map<uint64_t, uint64_t> next_sequences;
    const void *held = nullptr;
    OwnMessage own;
    iox::capro::ServiceDescription topic;
    iox::runtime::ServiceDiscovery discovery;
    // Empty for readers that poll and for listeners, because each message would signal the wait set in vain.
    std::optional<iox::popo::WaitSet<1>> wait_set;
    iox::popo::UntypedSubscriber port;
};

std::unique_ptr<Subscription> new_subscription(const perf_test_run *run, const perf_test_endpoint *plan,
                                               iox::popo::SubscriberOptions options, perf_test_error *error) {
    if (const char *reason = refusal(plan)) return perf_test_fail(error, "iceoryx %s", reason), nullptr;
    bool keeps_all = plan->qos.history == PERF_TEST_KEEP_ALL;
    options.queueCapacity = keeps_all ? iox::MAX_SUBSCRIBER_QUEUE_CAPACITY : plan->qos.depth;
    if (keeps_all && plan->qos.reliability == PERF_TEST_RELIABLE)
        options.queueFullPolicy = iox::popo::QueueFullPolicy::BLOCK_PRODUCER;
    if (plan->qos.durability == PERF_TEST_TRANSIENT_LOCAL) {
        options.historyRequest = plan->qos.depth;
        options.requiresPublisherHistorySupport = true;
    }
    std::unique_ptr<Subscription> self(new (std::nothrow) Subscription(run, plan, options));
    if (!self || !self->own.allocate(run, self->bytes)) return perf_test_fail(error, "there is no memory"), nullptr;
    return self;
}

void *create_subscription(void *, const perf_test_run *run, const perf_test_endpoint *plan,
                          perf_test_error *error) try {
    std::unique_ptr<Subscription> self = new_subscription(run, plan, {}, error);
    if (!self) return nullptr;
    if (run->wait != PERF_TEST_SPIN) {
        self->wait_set.emplace();
        if (self->wait_set->attachState(self->port, iox::popo::SubscriberState::HAS_DATA).has_error())
            return perf_test_fail(error, "iceoryx cannot attach the subscription to a wait set"), nullptr;
    }
    return self.release();
} catch (...) {
    return fail_with_exception(error, "create a subscription"), nullptr;
}

int64_t subscription_matched(void *subscription, perf_test_error *error) try {
    auto &self = *static_cast<Subscription *>(subscription);
    bool is_offered = false;
    self.discovery.findService(self.topic.getServiceIDString(), self.topic.getInstanceIDString(),
                               self.topic.getEventIDString(), [&](const auto &) { is_offered = true; },
                               iox::popo::MessagingPattern::PUB_SUB);
    return is_offered;
} catch (...) {
    return fail_with_exception(error, "look for publishers");
}

void count_overwritten(Subscription &self, uint64_t origin, uint64_t sequence) {
    uint64_t &next = self.next_sequences.try_emplace(origin, sequence).first->second;
    if (sequence > next) self.overwritten.fetch_add(sequence - next, std::memory_order_relaxed);
    next = sequence + 1;
}

int take(void *subscription, perf_test_taken *taken, perf_test_error *error) try {
    auto &self = *static_cast<Subscription *>(subscription);
    auto result = self.port.take();
    if (result.has_error()) {
        if (result.error() == iox::popo::ChunkReceiveResult::NO_CHUNK_AVAILABLE) return 0;
        return perf_test_fail(error, "iceoryx cannot take a message (error %d)", int(result.error()));
    }
    const void *message = result.value();
    if (self.marks) taken->in_hand_ns = perf_test_now_ns();
    const ChunkHeader &header = *ChunkHeader::fromUserPayload(message);
    uint64_t length = header.userPayloadSize();
    uint64_t sequence = header.sequenceNumber(), origin = static_cast<uint64_t>(header.originId());
    write_source(header.originId(), taken->source);
    if (length != self.bytes) {
        self.port.release(message);
        return perf_test_fail(error, "iceoryx has a message of %llu bytes and not %llu on the topic: another program "
                              "publishes there", static_cast<unsigned long long>(length),
                              static_cast<unsigned long long>(self.bytes));
    }
    if (self.own.bytes) {
        std::memcpy(self.own.bytes, message, self.bytes);
        self.port.release(message);
        message = self.own.bytes;
    } else {
        self.held = message;
    }
    taken->received_ns = perf_test_now_ns();
    count_overwritten(self, origin, sequence);
    Head head;
    std::memcpy(&head, message, sizeof head);
    taken->time_ns = head.time_ns;
    taken->id = head.id;
    taken->length_bytes = length;
    taken->overwritten = self.overwritten.load(std::memory_order_relaxed);
    taken->payload = static_cast<const uint8_t *>(message) + sizeof(Head);
    taken->payload_bytes = length - sizeof(Head);
    taken->loaned = !self.own.bytes;
    return 1;
} catch (...) {
    return fail_with_exception(error, "take a message");
}

void release(void *subscription) {
    auto &self = *static_cast<Subscription *>(subscription);
    if (self.held) self.port.release(self.held);
    self.held = nullptr;
}

int wait_for_message(void *subscription, int64_t timeout_ns, perf_test_error *error) try {
    auto &self = *static_cast<Subscription *>(subscription);
    self.wait_set->timedWait(iox::units::Duration::fromNanoseconds(timeout_ns));
    return 0;
} catch (...) {
    return fail_with_exception(error, "wait for a message");
}

uint64_t overwritten(void *subscription) {
    return static_cast<Subscription *>(subscription)->overwritten.load(std::memory_order_relaxed);
}

void destroy_subscription(void *subscription) { delete static_cast<Subscription *>(subscription); }

} // namespace

void *create_unsubscribed(const perf_test_run *run, const perf_test_endpoint *plan, perf_test_error *error) try {
    iox::popo::SubscriberOptions options;
    options.subscribeOnCreate = false;
    return new_subscription(run, plan, options, error).release();
} catch (...) {
    return fail_with_exception(error, "create a subscription"), nullptr;
}

iox::popo::UntypedSubscriber &port_of(void *subscription) { return static_cast<Subscription *>(subscription)->port; }

const perf_test_publisher_functions PUBLISHER_FUNCTIONS = {
    {publisher_matched, nullptr, nullptr, destroy_publisher}, create_publisher, publish, publisher_source};
const perf_test_subscription_functions SUBSCRIPTION_FUNCTIONS = {
    {subscription_matched, nullptr, nullptr, destroy_subscription},
    create_subscription, take, release, wait_for_message, nullptr, nullptr, overwritten};
