// The delivery of messages to perf_test by a listener that only reports that there are messages to take.
#pragma once

#include <mutex>

#include "perf_test_backend.h"

// Owns a subscription, takes its messages on the threads of the middleware, and gives them to a sink.
class Delivery {
  public:
    Delivery(const perf_test_subscription_functions &used, void *given) : functions(used), subscription(given) {}
    ~Delivery() { functions.matched.destroy(subscription); }
    Delivery(const Delivery &) = delete;
    Delivery &operator=(const Delivery &) = delete;

    // Takes all available messages, because one report may stand for several messages. The first failure ends the
    // delivery.
    void take_all() {
        std::lock_guard<std::mutex> lock(mutex);
        perf_test_error error;
        int result = 1;
        while (sink && result == 1) {
            perf_test_taken taken = {};
            result = functions.take(subscription, &taken, &error);
            if (result == 1) perf_test_sink_taken(sink, &taken);
            if (result == -1) {
                perf_test_sink_failed(sink, error.sentence);
                sink = nullptr;
            }
            functions.release(subscription);
        }
    }

    // Delivers the following messages to `given`. With nullptr, messages are not taken any more, and no delivery is
    // running when the call returns.
    void deliver_to(perf_test_sink *given) {
        std::lock_guard<std::mutex> lock(mutex);
        sink = given;
    }

    const perf_test_subscription_functions &functions;
    void *const subscription;

  private:
    // A middleware may call the listener while it holds a lock of its own, so this mutex is always locked second.
    std::mutex mutex;
    perf_test_sink *sink = nullptr;
};
