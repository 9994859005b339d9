// A queue for rclcpp's EventsExecutor that waits for subscriptions to messages in shared memory itself.
//
// rclcpp's own queue sleeps on a condition variable, so a thread of the RMW wakes first and then wakes the executor.
// With this queue, the publisher wakes the executor's thread directly. Events of other entities still come through the
// RMW's thread.
#pragma once

#include <gantry_rclcpp/ready_subscriptions.hpp>

#include <rclcpp/experimental/executors/events_executor/events_queue.hpp>

#include <deque>

namespace gantry {

// The queue of one EventsExecutor. The context is the context of the executor. A subscription has one event at a time,
// so `spin_some` runs at most one message of each; `spin` and `spin_all` run all.
//
//   rclcpp::experimental::executors::EventsExecutor executor(std::make_unique<gantry::EventsQueue>());
class EventsQueue final : public rclcpp::experimental::executors::EventsQueue {
public:
    using Event = rclcpp::experimental::executors::ExecutorEvent;

    // Throws the exceptions of rclcpp::GuardCondition if no wait is possible in the context.
    explicit EventsQueue(const rclcpp::Context::SharedPtr &context = rclcpp::contexts::get_global_default_context())
        : ready_(std::make_shared<detail::ReadySubscriptions>(context)) {}

    // Any thread may call this function.
    void enqueue(const Event &event) override {
        if (event.num_events == 0) return detail::ReadySubscriptions::answer_search(ready_);
        Event single = event;
        single.num_events = 1;
        {
            const std::lock_guard<std::mutex> lock(mutex_);
            events_.insert(events_.end(), event.num_events, single);
        }
        ready_->wake();
    }
    // Throws the exceptions of rclcpp if the wait fails.
    bool dequeue(Event &event, std::chrono::nanoseconds timeout = std::chrono::nanoseconds::max()) override {
        const bool is_endless = timeout == std::chrono::nanoseconds::max();
        const auto begin = is_endless ? std::chrono::steady_clock::time_point() : std::chrono::steady_clock::now();
        auto left = timeout;
        while (true) {
            collect(has_events() ? std::chrono::nanoseconds(0) : left);
            if (pop(event)) return true;
            if (is_endless) continue;
            left = timeout - (std::chrono::steady_clock::now() - begin);
            if (left <= std::chrono::nanoseconds(0)) return false;
        }
    }
    bool empty() const override { return size() == 0; }
    std::size_t size() const override {
        collect(std::chrono::nanoseconds(0));
        const std::lock_guard<std::mutex> lock(mutex_);
        return events_.size();
    }

private:
    bool has_events() const {
        const std::lock_guard<std::mutex> lock(mutex_);
        return !events_.empty();
    }
    bool pop(Event &event) {
        {
            const std::lock_guard<std::mutex> lock(mutex_);
            if (events_.empty()) return false;
            event = std::move(events_.front());
            events_.pop_front();
        }
        // The next wait reports the subscription again if it has another message.
        if (event.type == rclcpp::experimental::executors::WAITABLE_EVENT) ready_->taken(event.entity_key);
        return true;
    }
    // Waits, and adds an event for each subscription with a message that has no event yet.
    void collect(std::chrono::nanoseconds timeout) const {
        ready_->wait(timeout, [this](const rclcpp::Waitable *waitable) {
            const std::lock_guard<std::mutex> lock(mutex_);
            events_.push_back({waitable, nullptr, 0, rclcpp::experimental::executors::WAITABLE_EVENT, 1});
        });
    }

    std::shared_ptr<detail::ReadySubscriptions> ready_;
    mutable std::mutex mutex_;
    mutable std::deque<Event> events_;
};

}  // namespace gantry
