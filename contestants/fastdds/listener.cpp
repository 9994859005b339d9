// A subscription by a listener. Fast DDS calls the listener on its receiving thread; with direct delivery within a
// process, it calls the listener on the publishing thread. The listener takes all available messages, as in the
// library's examples. The data reader is enabled after it has the listener.

#include <fastdds/dds/subscriber/DataReader.hpp>
#include <fastdds/dds/subscriber/DataReaderListener.hpp>

#include "../delivery.hpp"
#include "endpoint.hpp"

using namespace eprosima::fastdds::dds;

namespace {

struct Listening : DataReaderListener {
    explicit Listening(void *subscription) : delivery(SUBSCRIPTION_FUNCTIONS, subscription) {}

    void on_data_available(DataReader *) override { delivery.take_all(); }

    Delivery delivery;
    bool has_started = false;
};

Listening *listening(void *endpoint) { return static_cast<Listening *>(endpoint); }

void *create(void *session, const perf_test_run *run, const perf_test_endpoint *plan, perf_test_error *error) {
    return guarded(error, static_cast<void *>(nullptr), [&]() -> void * {
        void *subscription = create_reader(session, run, plan, error);
        return subscription ? new Listening(subscription) : nullptr;
    });
}

int64_t matched(void *endpoint, perf_test_error *error) {
    Listening *self = listening(endpoint);
    return self->has_started ? SUBSCRIPTION_FUNCTIONS.matched.matched(self->delivery.subscription, error) : 0;
}

void mismatches(void *endpoint, perf_test_sentences *sentences) {
    SUBSCRIPTION_FUNCTIONS.matched.mismatches(listening(endpoint)->delivery.subscription, sentences);
}

void destroy(void *endpoint) { delete listening(endpoint); }

int start(void *endpoint, perf_test_sink *sink, perf_test_error *error) {
    return guarded(error, -1, [&] {
        Listening *self = listening(endpoint);
        self->delivery.deliver_to(sink);
        DataReader *reader = reader_of(self->delivery.subscription);
        ReturnCode_t result = reader->set_listener(self, StatusMask::data_available());
        if (result == RETCODE_OK) result = reader->enable();
        if (result != RETCODE_OK)
            return perf_test_fail(error, "Fast DDS has not begun to deliver messages: return code %d", result);
        self->has_started = true;
        return 0;
    });
}

int stop(void *endpoint, perf_test_error *error) {
    return guarded(error, -1, [&] {
        Listening *self = listening(endpoint);
        reader_of(self->delivery.subscription)->set_listener(nullptr);
        // A thread may have read the listener before and still call it; without a sink, the call delivers nothing.
        self->delivery.deliver_to(nullptr);
        return 0;
    });
}

} // namespace

const perf_test_subscription_functions LISTENER_FUNCTIONS = {
    {matched, mismatches, nullptr, destroy}, create, nullptr, nullptr, nullptr, start, stop, nullptr};
