// The wait of an EventsQueue for subscriptions.
#pragma once

#include <rclcpp/rclcpp.hpp>
#include <rclcpp/waitable.hpp>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

namespace gantry::detail {

// Subscriptions and a guard condition, in an rcl wait set. One thread at a time waits; any thread calls the other
// functions.
class ReadySubscriptions {
public:
    explicit ReadySubscriptions(const rclcpp::Context::SharedPtr &context)
        : guard_condition_(context), context_(context->get_rcl_context()) {
        check(rcl_wait_set_init(&wait_set_, 0, 1, 0, 0, 0, 0, context_.get(), rcl_get_default_allocator()));
    }
    ~ReadySubscriptions() {
        if (rcl_wait_set_fini(&wait_set_) != RCL_RET_OK) rcl_reset_error();  // nothing is left to do with an error
    }
    ReadySubscriptions(const ReadySubscriptions &) = delete;
    ReadySubscriptions &operator=(const ReadySubscriptions &) = delete;

    // The subscriptions of the EventsQueue that a callback of an executor leads to, or null. The callback is called
    // with 0 events, which each queue ignores; an EventsQueue answers.
    static std::shared_ptr<ReadySubscriptions> find(const std::function<void(std::size_t, int)> &callback) {
        std::shared_ptr<ReadySubscriptions> found;
        search() = &found;
        try {
            callback(0, 0);
        } catch (...) {
            search() = nullptr;
            throw;
        }
        search() = nullptr;
        return found;
    }
    static void answer_search(const std::shared_ptr<ReadySubscriptions> &answer) {
        if (search()) *search() = answer;
    }

    void add(const rclcpp::Waitable *waitable, std::shared_ptr<rcl_subscription_t> subscription) {
        {
            const std::lock_guard<std::mutex> lock(mutex_);
            added_.push_back({waitable, std::move(subscription), false});
            is_changed_ = true;
        }
        wake();
    }
    // Ends the wait for a subscription. A thread that waits wakes and drops its handle.
    void remove(const rclcpp::Waitable *waitable) {
        {
            const std::lock_guard<std::mutex> lock(mutex_);
            for (auto each = added_.begin(); each != added_.end(); ++each)
                if (each->waitable == waitable) {
                    added_.erase(each);
                    break;
                }
            is_changed_ = true;
            // A thread that waits must not report the subscription any more: another one may get its address.
            for (auto &each : waited_)
                if (each.waitable == waitable) each.is_reported = true;
            if (!is_waiting_) waited_.clear();
        }
        wake();
    }
    // Ends the current wait, or the next one.
    void wake() { guard_condition_.trigger(); }
    // Makes the next wait report this subscription again.
    void taken(const void *waitable) {
        const std::lock_guard<std::mutex> lock(mutex_);
        for (auto &each : waited_)
            if (each.waitable == waitable) each.is_reported = false;
    }

    // Waits until a subscription has a message, `wake` is called, or the time is over. Calls `report` with each
    // subscription that has a message and was not reported since `taken`.
    template <class Report>
    void wait(std::chrono::nanoseconds timeout, Report &&report) {
        prepare();
        // rcl waits without limit for a negative time, which an executor passes if a timer is overdue.
        const bool is_endless = timeout == std::chrono::nanoseconds::max();
        const rcl_ret_t ended = rcl_wait(&wait_set_, is_endless ? -1 : std::max<std::int64_t>(timeout.count(), 0));
        const std::lock_guard<std::mutex> lock(mutex_);
        is_waiting_ = false;
        if (ended == RCL_RET_OK)
            for (std::size_t i = 0; i < waited_.size(); i++)
                if (wait_set_.subscriptions[i] && !std::exchange(waited_[i].is_reported, true)) report(waited_[i].waitable);
        if (is_changed_) waited_.clear();
        if (ended != RCL_RET_OK && ended != RCL_RET_TIMEOUT) check(ended);
    }

private:
    struct Waited {
        const rclcpp::Waitable *waitable;
        std::shared_ptr<rcl_subscription_t> subscription;
        bool is_reported;
    };

    static std::shared_ptr<ReadySubscriptions> *&search() {
        thread_local std::shared_ptr<ReadySubscriptions> *found = nullptr;
        return found;
    }
    static void check(rcl_ret_t code) {
        if (code != RCL_RET_OK) rclcpp::exceptions::throw_from_rcl_error(code, "an EventsQueue cannot wait");
    }
    // Puts the subscriptions into the wait set.
    void prepare() {
        const std::lock_guard<std::mutex> lock(mutex_);
        if (std::exchange(is_changed_, false)) {
            waited_ = added_;
            check(rcl_wait_set_resize(&wait_set_, waited_.size(), 1, 0, 0, 0, 0));
        }
        check(rcl_wait_set_clear(&wait_set_));
        for (const auto &each : waited_) check(rcl_wait_set_add_subscription(&wait_set_, each.subscription.get(), nullptr));
        check(rcl_wait_set_add_guard_condition(&wait_set_, &guard_condition_.get_rcl_guard_condition(), nullptr));
        is_waiting_ = true;
    }

    rclcpp::GuardCondition guard_condition_;
    std::shared_ptr<rcl_context_t> context_;
    rcl_wait_set_t wait_set_ = rcl_get_zero_initialized_wait_set();
    std::mutex mutex_;
    std::vector<Waited> added_;
    // The subscriptions of the current or the last wait, in the order of the wait set.
    std::vector<Waited> waited_;
    bool is_changed_ = true;
    bool is_waiting_ = false;
};

}  // namespace gantry::detail
