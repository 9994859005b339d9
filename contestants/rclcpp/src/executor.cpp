// The executors of topologies: rclcpp's own executors, with its wall timers and its callbacks.
#include "executor.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <thread>
#include <vector>

#include "endpoint.hpp"
#include "guarded.hpp"
#include "rclcpp/version.h"
#include "service.hpp"

namespace {

using std::chrono::nanoseconds;

struct Executor {
    const perf_test_run &run;
    std::unique_ptr<rclcpp::Executor> executor;
    std::vector<rclcpp::Node::SharedPtr> nodes;
    std::vector<rclcpp::TimerBase::SharedPtr> timers;
    std::atomic<bool> is_spinning{false};
    std::atomic<bool> is_stopped{false};

    void add(const rclcpp::Node::SharedPtr &node) {
        if (std::find(nodes.begin(), nodes.end(), node) == nodes.end()) {
            executor->add_node(node);
            nodes.push_back(node);
        }
    }
};

// The times at which rclcpp considered a timer due.
class DueTimes {
public:
    explicit DueTimes(std::int64_t period_ns) : period_ns_(period_ns) {}

    // Returns the number of periods that rclcpp has skipped since the last call.
    std::uint64_t passed_over(std::int64_t due_ns) {
        const std::int64_t periods = is_first_ ? 1 : (due_ns - last_ns_ + period_ns_ / 2) / period_ns_;
        is_first_ = false;
        last_ns_ = due_ns;
        return static_cast<std::uint64_t>(std::max<std::int64_t>(periods - 1, 0));
    }

private:
    std::int64_t period_ns_;
    std::int64_t last_ns_ = 0;
    bool is_first_ = true;
};

rclcpp::TimerBase::SharedPtr make_timer(rclcpp::Node &node, std::int64_t period_ns, perf_test_timer *timer) {
    const auto times = std::make_shared<DueTimes>(period_ns);
#if RCLCPP_VERSION_GTE(28, 1, 0)
    const auto callback = [timer, times](const rclcpp::TimerInfo &info) {
        perf_test_timer_expired(timer, times->passed_over(info.expected_call_time.nanoseconds()));
    };
#else // computes the skipped periods from the time at which the timer is next due
    const auto callback = [timer, times](rclcpp::TimerBase &of) {
        perf_test_timer_expired(timer, times->passed_over(perf_test_now_ns() + of.time_until_trigger().count()));
    };
#endif
    return node.create_wall_timer(nanoseconds(period_ns), callback);
}

void destroy(void *executor) {
    perf_test_error ignored;
    guarded(&ignored, false, "destroy an executor", [&] { return delete static_cast<Executor *>(executor), true; });
}

void *create(void *, const perf_test_run *run, perf_test_error *error) {
    return guarded<void *>(error, nullptr, "create an executor",
                           [&] { return new Executor{*run, make_executor(run->executor), {}, {}}; });
}

int add_timer(void *executor, const perf_test_endpoint *publisher, perf_test_timer *timer, perf_test_error *error) {
    return guarded(error, -1, "create a timer", [&] {
        Executor *self = static_cast<Executor *>(executor);
        const rclcpp::Node::SharedPtr node = shared_node(self->run, publisher->node);
        self->timers.push_back(make_timer(*node, publisher->pace_ns / publisher->pace_messages, timer));
        self->timers.back()->cancel(); // the timer starts with the run
        self->add(node);
        return 0;
    });
}

int add_subscription(void *executor, void *subscription, perf_test_sink *sink, perf_test_error *error) {
    return guarded(error, -1, "add a subscription to an executor", [&] {
        static_cast<Executor *>(executor)->add(subscription_of(subscription).start_in_executor(sink));
        return 0;
    });
}

#if HAS_SERVICES
int add_client(void *executor, const perf_test_service_end *client, perf_test_sink *responses,
               perf_test_error *error) {
    return guarded(error, -1, "add a client to an executor", [&] {
        static_cast<Executor *>(executor)->add(start_client(client->subscription, responses));
        return 0;
    });
}

int add_server(void *executor, const perf_test_service_end *server, perf_test_responder *requests,
               perf_test_error *error) {
    return guarded(error, -1, "add a server to an executor", [&] {
        static_cast<Executor *>(executor)->add(start_server(server->subscription, requests));
        return 0;
    });
}
#else
constexpr decltype(perf_test_executor_functions::add_client) add_client = nullptr;
constexpr decltype(perf_test_executor_functions::add_server) add_server = nullptr;
#endif

int spin(void *executor, int64_t start_ns, perf_test_error *error) {
    Executor *self = static_cast<Executor *>(executor);
    self->is_spinning = true;
    const int result = guarded(error, -1, "spin", [&] {
        std::this_thread::sleep_for(nanoseconds(start_ns - perf_test_now_ns()));
        for (const auto &timer : self->timers) {
            timer->reset(); // the timer first expires one period from now
        }
        if (!self->is_stopped) {
            self->executor->spin();
        }
        return 0;
    });
    self->is_spinning = false;
    return result;
}

void stop(void *executor) {
    Executor *self = static_cast<Executor *>(executor);
    perf_test_error ignored;
    self->is_stopped = true;
    // An executor ignores a cancel before its thread has begun to spin, so cancel is repeated.
    while (self->is_spinning) {
        guarded(&ignored, 0, "cancel an executor", [&] { return self->executor->cancel(), 0; });
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
}

} // namespace

const perf_test_executor_functions EXECUTOR_FUNCTIONS = {
    create, add_timer, add_subscription, spin, stop, destroy, add_client, add_server};
