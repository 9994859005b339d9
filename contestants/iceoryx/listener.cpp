// A subscription whose messages are taken on the thread of a listener of iceoryx.
#include <mutex>
#include <optional>

#include "endpoint.hpp"
#include "iceoryx_posh/popo/listener.hpp"

namespace {

using iox::popo::SubscriberEvent;
using iox::popo::UntypedSubscriber;

class Listening {
public:
    explicit Listening(void *given) : subscription(given) { listener.emplace(); }
    ~Listening() {
        // The listener's thread uses the subscription.
        listener.reset();
        SUBSCRIPTION_FUNCTIONS.matched.destroy(subscription);
    }

    // Takes all messages in the queue, because one event may report several messages.
    void take_all() {
        std::lock_guard<std::mutex> lock(delivery);
        perf_test_error error;
        int result = 1;
        while (sink && result == 1) {
            perf_test_taken taken = {};
            result = SUBSCRIPTION_FUNCTIONS.take(subscription, &taken, &error);
            if (result == 1) perf_test_sink_taken(sink, &taken);
            else if (result == -1) {
                perf_test_sink_failed(sink, error.sentence);
                sink = nullptr;
            }
            SUBSCRIPTION_FUNCTIONS.release(subscription);
        }
    }

    // Sets the sink of all further messages; nullptr ends the delivery. When it returns, no earlier delivery runs.
    void deliver_to(perf_test_sink *given) {
        std::lock_guard<std::mutex> lock(delivery);
        sink = given;
    }

    void *const subscription;
    bool has_started = false;
    std::optional<iox::popo::Listener> listener;

private:
    std::mutex delivery;
    perf_test_sink *sink = nullptr;
};

Listening *listening(void *endpoint) { return static_cast<Listening *>(endpoint); }

void on_data_received(UntypedSubscriber *, Listening *self) { self->take_all(); }

void *create(void *, const perf_test_run *run, const perf_test_endpoint *plan, perf_test_error *error) try {
    void *subscription = create_unsubscribed(run, plan, error);
    if (!subscription) return nullptr;
    try {
        return new Listening(subscription);
    } catch (...) {
        SUBSCRIPTION_FUNCTIONS.matched.destroy(subscription);
        throw;
    }
} catch (...) {
    return fail_with_exception(error, "create a subscription with a listener"), nullptr;
}

int64_t matched(void *endpoint, perf_test_error *error) {
    Listening *self = listening(endpoint);
    return self->has_started ? SUBSCRIPTION_FUNCTIONS.matched.matched(self->subscription, error) : 0;
}

void destroy(void *endpoint) { delete listening(endpoint); }

int start(void *endpoint, perf_test_sink *sink, perf_test_error *error) try {
    Listening *self = listening(endpoint);
    self->deliver_to(sink);
    UntypedSubscriber &port = port_of(self->subscription);
    auto callback = iox::popo::createNotificationCallback(on_data_received, *self);
    if (self->listener->attachEvent(port, SubscriberEvent::DATA_RECEIVED, callback).has_error())
        return perf_test_fail(error, "iceoryx cannot attach the subscription to a listener");
    port.subscribe();
    self->has_started = true;
    return 0;
} catch (...) {
    return fail_with_exception(error, "begin to deliver messages");
}

int stop(void *endpoint, perf_test_error *) {
    Listening *self = listening(endpoint);
    self->listener->detachEvent(port_of(self->subscription), SubscriberEvent::DATA_RECEIVED);
    self->deliver_to(nullptr);
    return 0;
}

uint64_t overwritten(void *endpoint) { return SUBSCRIPTION_FUNCTIONS.overwritten(listening(endpoint)->subscription); }

} // namespace

const perf_test_subscription_functions LISTENER_FUNCTIONS = {
    {matched, nullptr, nullptr, destroy}, create, nullptr, nullptr, nullptr, start, stop, overwritten};
