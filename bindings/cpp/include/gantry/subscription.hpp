// Subscriptions to bytes and to typed messages.
#pragma once

#include <gantry/events.hpp>
#include <gantry/qos.hpp>
#include <gantry/sample.hpp>

namespace gantry {

// Takes messages as bytes. Only one thread at a time may use it.
class GenericSubscription {
public:
    explicit GenericSubscription(gantry_subscription *handle) noexcept : handle_(handle) {}

    // The next sample, if there is one. It is read in shared memory, and its bytes are not checked.
    result<std::optional<GenericSample>> take() {
        GenericSample made;
        const gantry_status status = gantry_subscription_take(handle_.get(), made.raw());
        if (status < 0) return error::last(status);
        if (status != GANTRY_OK) return std::optional<GenericSample>();
        return std::optional<GenericSample>(std::move(made));
    }
    // Waits until there is a sample to take. Returns false after the timeout.
    result<bool> wait(std::chrono::nanoseconds timeout) {
        return detail::whether(gantry_subscription_wait(handle_.get(), detail::timeout_ns(timeout)));
    }
    result<bool> wait_for_publishers(std::size_t count, std::chrono::nanoseconds timeout) {
        return detail::whether(
            gantry_subscription_wait_for_publishers(handle_.get(), count, detail::timeout_ns(timeout)));
    }
    // A file descriptor for poll and epoll that is readable while there is a sample to take.
    result<int> fd() {
        return detail::descriptor([this](std::int32_t *fd) { return gantry_subscription_get_fd(handle_.get(), fd); });
    }
    result<gantry_subscription_counts> counts() {
        auto counts = detail::sized<gantry_subscription_counts>();
        const gantry_status status = gantry_subscription_get_counts(handle_.get(), &counts);
        if (status < 0) return error::last(status);
        return counts;
    }
    // The count `overwritten` alone, which costs one load.
    std::uint64_t overwritten() const noexcept { return gantry_subscription_overwritten(handle_.get()); }
    result<void> set_max_held_samples(std::size_t limit) {
        return detail::done(gantry_subscription_set_max_held_samples(handle_.get(), limit));
    }
    result<void> set_busy_wait(bool on) { return detail::done(gantry_subscription_set_busy_wait(handle_.get(), on)); }
    result<std::size_t> get_publisher_count() {
        std::size_t count = 0;
        const gantry_status status = gantry_subscription_publisher_count(handle_.get(), &count);
        if (status < 0) return error::last(status);
        return count;
    }
    result<std::vector<std::string>> mismatches() {
        return detail::strings([this](auto **list) { return gantry_subscription_mismatches(handle_.get(), list); });
    }
    result<Events> events() {
        gantry_events *made = nullptr;
        const gantry_status status = gantry_subscription_events(handle_.get(), &made);
        if (status < 0) return error::last(status);
        return Events(made);
    }
    gantry_gid get_gid() const noexcept {
        gantry_gid gid = {};
        gantry_subscription_get_gid(handle_.get(), &gid);
        return gid;
    }
    const char *get_topic_name() const noexcept { return gantry_subscription_topic(handle_.get()); }
    gantry_wait_source wait_source() noexcept { return {GANTRY_SOURCE_SUBSCRIPTION, false, handle_.get()}; }
    gantry_subscription *raw() noexcept { return handle_.get(); }

private:
    detail::handle<gantry_subscription, gantry_subscription_destroy> handle_;
};

// Takes messages of type M. generic() gives access to the other functions.
template <class M>
class Subscription {
public:
    explicit Subscription(GenericSubscription generic) noexcept : generic_(std::move(generic)) {}

    // The next message, if there is one. It is read in shared memory. A malformed message is counted, logged and
    // skipped.
    result<std::optional<Sample<M>>> take() {
        return detail::take<M>(
            [this](gantry_sample *sample) { return gantry_subscription_take(generic_.raw(), sample); },
            [this](const gantry_sample *sample, const char *why) {
                gantry_subscription_skip_malformed(generic_.raw(), sample, why);
            });
    }
    result<bool> wait(std::chrono::nanoseconds timeout) { return generic_.wait(timeout); }
    result<bool> wait_for_publishers(std::size_t count, std::chrono::nanoseconds timeout) {
        return generic_.wait_for_publishers(count, timeout);
    }
    result<std::size_t> get_publisher_count() { return generic_.get_publisher_count(); }
    const char *get_topic_name() const noexcept { return generic_.get_topic_name(); }
    gantry_wait_source wait_source() noexcept { return generic_.wait_source(); }
    GenericSubscription &generic() noexcept { return generic_; }

private:
    GenericSubscription generic_;
};

}  // namespace gantry
