// A subscription whose messages are taken on the thread of a listener of iceoryx.
#include "../delivery.hpp"
#include "endpoint.hpp"
#include "iceoryx_posh/popo/listener.hpp"

namespace {

using iox::popo::SubscriberEvent;
using iox::popo::UntypedSubscriber;

struct Listening {
    explicit Listening(void *subscription) : delivery(SUBSCRIPTION_FUNCTIONS, subscription) {}

    Delivery delivery;
    bool has_started = false;
    // The last member is destroyed first: the listener's thread uses the subscription.
    iox::popo::Listener listener;
};

Listening *listening(void *endpoint) { return static_cast<Listening *>(endpoint); }

void on_data_received(UntypedSubscriber *, Listening *self) { self->delivery.take_all(); }

void *create(void *, const perf_test_run *run, const perf_test_endpoint *plan, perf_test_error *error) try {
    void *subscription = create_unsubscribed(run, plan, error);
    return subscription ? new Listening(subscription) : nullptr;
} catch (...) {
    return fail_with_exception(error, "create a subscription with a listener"), nullptr;
}

int64_t matched(void *endpoint, perf_test_error *error) {
    Listening *self = listening(endpoint);
    return self->has_started ? SUBSCRIPTION_FUNCTIONS.matched.matched(self->delivery.subscription, error) : 0;
}

void destroy(void *endpoint) { delete listening(endpoint); }

int start(void *endpoint, perf_test_sink *sink, perf_test_error *error) try {
    Listening *self = listening(endpoint);
    self->delivery.deliver_to(sink);
    UntypedSubscriber &port = port_of(self->delivery.subscription);
    auto callback = iox::popo::createNotificationCallback(on_data_received, *self);
    if (self->listener.attachEvent(port, SubscriberEvent::DATA_RECEIVED, callback).has_error())
        return perf_test_fail(error, "iceoryx cannot attach the subscription to a listener");
    port.subscribe();
    self->has_started = true;
    return 0;
} catch (...) {
    return fail_with_exception(error, "begin to deliver messages");
}

int stop(void *endpoint, perf_test_error *) {
    Listening *self = listening(endpoint);
    self->listener.detachEvent(port_of(self->delivery.subscription), SubscriberEvent::DATA_RECEIVED);
    self->delivery.deliver_to(nullptr);
    return 0;
}

uint64_t overwritten(void *endpoint) { return SUBSCRIPTION_FUNCTIONS.overwritten(listening(endpoint)->delivery.subscription); }

} // namespace

const perf_test_subscription_functions LISTENER_FUNCTIONS = {
    {matched, nullptr, nullptr, destroy}, create, nullptr, nullptr, nullptr, start, stop, overwritten};
