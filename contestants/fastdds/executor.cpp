// The executor: one thread with a wait set, as in a program that uses Fast DDS without ROS 2. In each turn it runs the
// timers that are due, and takes one message, request or response of each data reader that has available data.

#include <fastdds/dds/core/condition/GuardCondition.hpp>
#include <fastdds/dds/core/condition/WaitSet.hpp>
#include <fastdds/dds/subscriber/ReadCondition.hpp>

#include <algorithm>
#include <atomic>
#include <stdexcept>
#include <unordered_map>
#include <vector>

#include "endpoint.hpp"

using namespace eprosima::fastdds::dds;

namespace {

struct Callback {
    void *subscription;
    perf_test_sink *sink;
    perf_test_responder *responder; // set only for a server, instead of the sink
};

struct Executor {
    std::vector<perf_test_timer *> timers;
    // The callbacks by their read conditions. A read condition stays true while the data reader has messages; the
    // status DATA_AVAILABLE would be reset by a take that leaves messages.
    std::unordered_map<const Condition *, Callback> callbacks;
    WaitSet waits;
    GuardCondition stopping;
    std::atomic<bool> is_stopped{false};
};

void destroy(void *executor) {
    Executor *self = static_cast<Executor *>(executor);
    self->waits.detach_condition(self->stopping);
    for (const auto &[condition, callback] : self->callbacks) {
        self->waits.detach_condition(*condition);
        DataReader *reader = reader_of(callback.subscription);
        reader->delete_readcondition(static_cast<ReadCondition *>(const_cast<Condition *>(condition)));
    }
    delete self;
}

void *create(void *, const perf_test_run *, perf_test_error *error) {
    return guarded(error, static_cast<void *>(nullptr), []() -> void * {
        Executor *self = new Executor;
        self->waits.attach_condition(self->stopping);
        return self;
    });
}

int add_timer(void *executor, const perf_test_endpoint *, perf_test_timer *timer, perf_test_error *error) {
    return guarded(error, -1, [&] { return static_cast<Executor *>(executor)->timers.push_back(timer), 0; });
}

int add(void *executor, const Callback &callback, perf_test_error *error) {
    return guarded(error, -1, [&] {
        Executor *self = static_cast<Executor *>(executor);
        DataReader *reader = reader_of(callback.subscription);
        ReadCondition *condition =
            reader->create_readcondition(ANY_SAMPLE_STATE, ANY_VIEW_STATE, ANY_INSTANCE_STATE);
        if (!condition) return perf_test_fail(error, "Fast DDS has not created a condition for messages");
        self->callbacks[condition] = callback;
        ReturnCode_t result = self->waits.attach_condition(*condition);
        if (result == RETCODE_OK) return 0;
        return perf_test_fail(error, "Fast DDS cannot wait for messages: return code %d", result);
    });
}

int add_subscription(void *executor, void *subscription, perf_test_sink *sink, perf_test_error *error) {
    return add(executor, {subscription, sink, nullptr}, error);
}

int add_client(void *executor, const perf_test_service_end *client, perf_test_sink *responses,
               perf_test_error *error) {
    return add(executor, {client->subscription, responses, nullptr}, error);
}

int add_server(void *executor, const perf_test_service_end *server, perf_test_responder *requests,
               perf_test_error *error) {
    return add(executor, {server->subscription, nullptr, requests}, error);
}

// Runs the timers that are due. Returns the time at which the next timer is due.
int64_t run_timers(const Executor *self) {
    int64_t next_ns = INT64_MAX;
    for (perf_test_timer *timer : self->timers) next_ns = std::min(next_ns, perf_test_timer_run(timer));
    return next_ns;
}

eprosima::fastdds::dds::Duration_t until(int64_t time_ns) {
    if (time_ns == INT64_MAX) return eprosima::fastdds::dds::c_TimeInfinite;
    int64_t wait_ns = std::max<int64_t>(time_ns - perf_test_now_ns(), 0);
    return {static_cast<int32_t>(wait_ns / 1000000000), static_cast<uint32_t>(wait_ns % 1000000000)};
}

// Takes one message, if there is one, and passes it to the callback.
int receive(const Callback &callback, perf_test_error *error) {
    perf_test_taken taken = {};
    int result = SUBSCRIPTION_FUNCTIONS.take(callback.subscription, &taken, error);
    if (result <= 0) return result;
    if (callback.responder) perf_test_responder_request(callback.responder, &taken);
    else perf_test_sink_taken(callback.sink, &taken);
    SUBSCRIPTION_FUNCTIONS.release(callback.subscription);
    return 0;
}

// Runs the executor. The unnamed argument, the time of the start, is not needed: the timers have it.
int spin(void *executor, int64_t, perf_test_error *error) {
    return guarded(error, -1, [&] {
        Executor *self = static_cast<Executor *>(executor);
        ConditionSeq ready;
        while (!self->is_stopped) {
            ReturnCode_t result = self->waits.wait(ready, until(run_timers(self)));
            if (result == RETCODE_TIMEOUT) continue;
            if (result != RETCODE_OK)
                return perf_test_fail(error, "Fast DDS's wait set has failed: return code %d", result);
            for (const Condition *condition : ready) {
                auto found = self->callbacks.find(condition);
                if (found != self->callbacks.end() && receive(found->second, error) != 0) return -1;
            }
        }
        return 0;
    });
}

void stop(void *executor) {
    Executor *self = static_cast<Executor *>(executor);
    self->is_stopped = true;
    self->stopping.set_trigger_value(true);
}

} // namespace

const perf_test_executor_functions EXECUTOR_FUNCTIONS = {
    create, add_timer, add_subscription, spin, stop, destroy, add_client, add_server};
