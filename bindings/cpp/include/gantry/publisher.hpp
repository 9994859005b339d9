// Publishers of bytes and of typed messages.
#pragma once

#include <gantry/events.hpp>
#include <gantry/loan.hpp>
#include <gantry/qos.hpp>

namespace gantry {

// Publishes messages as bytes. Only one thread at a time may use it.
class GenericPublisher {
public:
    explicit GenericPublisher(gantry_publisher *handle) noexcept : handle_(handle) {}

    // Loans memory for a message of `size` bytes.
    result<GenericLoan> loan(std::size_t size) {
        GenericLoan made;
        const gantry_status status = gantry_publisher_loan(handle_.get(), size, made.raw());
        if (status < 0) return error::last(status);
        return result<GenericLoan>(std::move(made));
    }
    // Publishes a loan. Returns the sequence number of the message: 1, 2, … After a failure the caller still owns the
    // loan.
    result<std::uint64_t> publish(GenericLoan &&loan) {
        std::uint64_t sequence = 0;
        const gantry_status status = gantry_publisher_publish(handle_.get(), loan.raw(), &sequence);
        if (status < 0) return error::last(status);
        return sequence;
    }
    // Publishes a loan with the publication time that the caller gives.
    result<std::uint64_t> publish_at(GenericLoan &&loan, gantry_source_time time) {
        std::uint64_t sequence = 0;
        const gantry_status status = gantry_publisher_publish_at(handle_.get(), loan.raw(), time, &sequence);
        if (status < 0) return error::last(status);
        return sequence;
    }
    // Publishes a message by copying its bytes into shared memory.
    result<std::uint64_t> publish_copy(span<const std::uint8_t> bytes) {
        std::uint64_t sequence = 0;
        const gantry_status status =
            gantry_publisher_publish_copy(handle_.get(), bytes.data(), bytes.size(), &sequence);
        if (status < 0) return error::last(status);
        return sequence;
    }
    result<void> assert_liveliness() { return detail::done(gantry_publisher_assert_liveliness(handle_.get())); }

    result<std::size_t> get_subscription_count() {
        std::size_t count = 0;
        const gantry_status status = gantry_publisher_subscription_count(handle_.get(), &count);
        if (status < 0) return error::last(status);
        return count;
    }
    // Waits until `count` subscriptions are matched. Returns false after the timeout.
    result<bool> wait_for_subscriptions(std::size_t count, std::chrono::nanoseconds timeout) {
        return detail::whether(
            gantry_publisher_wait_for_subscriptions(handle_.get(), count, detail::timeout_ns(timeout)));
    }
    // One sentence for each subscription to the topic that is not matched, with the reason.
    result<std::vector<std::string>> mismatches() {
        return detail::strings([this](auto **list) { return gantry_publisher_mismatches(handle_.get(), list); });
    }
    result<Events> events() {
        gantry_events *made = nullptr;
        const gantry_status status = gantry_publisher_events(handle_.get(), &made);
        if (status < 0) return error::last(status);
        return Events(made);
    }
    // Creates another publisher of the same topic, for use on another thread.
    result<GenericPublisher> clone() const {
        gantry_publisher *made = nullptr;
        const gantry_status status = gantry_publisher_clone(handle_.get(), &made);
        if (status < 0) return error::last(status);
        return GenericPublisher(made);
    }
    gantry_gid get_gid() const noexcept {
        gantry_gid gid = {};
        gantry_publisher_get_gid(handle_.get(), &gid);
        return gid;
    }
    const char *get_topic_name() const noexcept { return gantry_publisher_topic(handle_.get()); }
    gantry_publisher *raw() noexcept { return handle_.get(); }

private:
    detail::handle<gantry_publisher, gantry_publisher_destroy> handle_;
};

// Publishes messages of type M. generic() gives access to the other functions.
template <class M>
class Publisher {
public:
    using Shape = typename message<M>::shape;

    explicit Publisher(GenericPublisher generic) noexcept : generic_(std::move(generic)) {}

    // Loans a message in shared memory. It has the defaults, except that arrays and sequences of more than 4096 bytes
    // contain old bytes.
    result<Loan<M>> loan(const Shape &shape = {}) {
        return detail::loan<M>(shape, [this](std::size_t size, gantry_loan *made) {
            return detail::done(gantry_publisher_loan(generic_.raw(), size, made));
        });
    }
    result<std::uint64_t> publish(Loan<M> &&loan) { return generic_.publish(std::move(loan.generic())); }

    // Loans a message, calls `fill` to write it, and publishes it: `publish(shape, [](auto &image) {
    // image.set_width(640); })`.
    template <class Fill, class = std::enable_if_t<std::is_invocable_v<Fill, decltype(*std::declval<Loan<M> &>())>>>
    result<std::uint64_t> publish(const Shape &shape, Fill &&fill) {
        auto made = loan(shape);
        if (!made) return made.error();
        fill(**made);
        return publish(*std::move(made));
    }
    // Publishes a plain message by copying it into shared memory.
    template <class Plain, class = std::enable_if_t<std::is_same_v<Plain, M> && message<M>::is_plain>>
    result<std::uint64_t> publish(const Plain &value) {
        return generic_.publish_copy({reinterpret_cast<const std::uint8_t *>(&value), sizeof value});
    }

    result<bool> wait_for_subscriptions(std::size_t count, std::chrono::nanoseconds timeout) {
        return generic_.wait_for_subscriptions(count, timeout);
    }
    result<std::size_t> get_subscription_count() { return generic_.get_subscription_count(); }
    const char *get_topic_name() const noexcept { return generic_.get_topic_name(); }
    GenericPublisher &generic() noexcept { return generic_; }

private:
    GenericPublisher generic_;
};

}  // namespace gantry
