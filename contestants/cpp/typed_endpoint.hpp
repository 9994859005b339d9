// The publisher and the subscription of one message type.
#pragma once

#include <vector>

#include "endpoint.hpp"
#include "message.hpp"

// The largest message that this program's publishers copy into the ring buffer instead of a slot.
constexpr size_t MAX_INLINE_BYTES = 256;

template <class M> class TypedPublisher final : public Publisher {
  public:
    TypedPublisher(gantry::Node own_node, gantry::Publisher<M> publisher, const perf_test_run &run, const perf_test_endpoint &plan)
        : Publisher(std::move(own_node)), publisher_(std::move(publisher)), text_(plan.message.unbounded_bytes, 'Z'),
          shape_(benchmark::shape<M>(plan.message.unbounded_bytes, text_)), last_id_(plan.message.last_id),
          is_zero_copy_(run.zero_copy) {
        gid = publisher_.generic().get_gid();
        is_loaned = run.zero_copy && plan.message.bytes > MAX_INLINE_BYTES;
    }

    // Creates the message for the copy path, or tries a loan. If memory is missing, the run fails before its first
    // message.
    gantry::result<void> prepare() {
        if (is_zero_copy_) {
            auto loan = publisher_.loan(shape_);
            if (!loan) return loan.error();
            return {};
        }
        auto counted = gantry::cdr::size_of<M>(shape_);
        if (!counted) return counted.error();
        const size_t bytes = *counted;
        body_.assign((bytes + 7) / 8, 0x0101010101010101);
        auto built = gantry::cdr::build<M>(body_.data(), bytes, shape_);
        if (!built) return built.error();
        own_.emplace(*std::move(built));
        bytes_ = bytes;
        return {};
    }

    gantry::result<void> publish(perf_test_draft *draft) override {
        if (!is_zero_copy_) {
            if constexpr (gantry::message<M>::is_plain) benchmark::fill(**own_, draft, last_id_);
            else benchmark::fill(*own_, draft, last_id_);
            auto published = publisher_.generic().publish_copy({reinterpret_cast<const uint8_t *>(body_.data()), bytes_});
            if (!published) return published.error();
            return {};
        }
        auto loan = publisher_.loan(shape_);
        if (!loan) return loan.error();
        benchmark::fill(**loan, draft, last_id_);
        auto published = publisher_.publish(*std::move(loan));
        if (!published) return published.error();
        return {};
    }
    gantry::result<size_t> matched() override { return publisher_.get_subscription_count(); }
    gantry::result<std::vector<std::string>> mismatches() override { return publisher_.generic().mismatches(); }

  private:
    gantry::Publisher<M> publisher_;
    std::string text_;
    typename gantry::message<M>::shape shape_;
    uint64_t last_id_;
    bool is_zero_copy_;
    std::vector<uint64_t> body_; // the message of the copy path
    size_t bytes_ = 0;
    std::optional<typename gantry::message<M>::mut_view> own_;
};

template <class M> class TypedSubscription final : public Subscription {
  public:
    TypedSubscription(gantry::Node own_node, gantry::Subscription<M> subscription, const perf_test_run &run)
        : Subscription(std::move(own_node)), subscription_(std::move(subscription)), is_zero_copy_(run.zero_copy) {}

    gantry::result<bool> take(perf_test_taken *taken) override {
        auto found = subscription_.take();
        if (!found) return found.error();
        if (!*found) {
            overwritten_ = subscription_.generic().overwritten(); // publishers that left may have lost messages
            return false;
        }
        gantry::Sample<M> &sample = **found;
        const auto bytes = sample.generic().bytes();
        if (is_zero_copy_) {
            taken->received_ns = perf_test_now_ns();
            benchmark::read(*sample, taken);
        } else {
            own_.resize((bytes.size() + 7) / 8);
            std::memcpy(own_.data(), bytes.data(), bytes.size());
            auto view = gantry::cdr::view<M>(own_.data(), bytes.size());
            if (!view) return view.error();
            taken->received_ns = perf_test_now_ns();
            if constexpr (gantry::message<M>::is_plain) benchmark::read(**view, taken);
            else benchmark::read(*view, taken);
        }
        const gantry_sample_info info = sample.info();
        std::memcpy(taken->source, info.publisher_gid.bytes, sizeof taken->source);
        taken->length_bytes = bytes.size();
        taken->overwritten = overwritten_before(info);
        taken->loaned = is_zero_copy_ && bytes.size() > MAX_INLINE_BYTES;
        if (is_zero_copy_) held_.emplace(std::move(sample));
        return true;
    }
    void release() override { held_.reset(); }
    gantry::result<bool> wait(std::chrono::nanoseconds timeout) override { return subscription_.wait(timeout); }
    // The loop calls this function between a wake-up and the take, so it calls no library.
    uint64_t overwritten() override { return overwritten_; }
    gantry::result<size_t> matched() override { return subscription_.get_publisher_count(); }
    gantry::result<std::vector<std::string>> mismatches() override { return subscription_.generic().mismatches(); }

  private:
    struct Next {
        gantry_gid publisher;
        uint64_t sequence;
    };

    // Returns the number of overwritten messages, which a take changes only with a gap in a publisher's sequence
    // numbers.
    uint64_t overwritten_before(const gantry_sample_info &info) {
        for (Next &next : next_) {
            if (std::memcmp(&next.publisher, &info.publisher_gid, sizeof next.publisher) != 0) continue;
            if (next.sequence != info.sequence) overwritten_ = subscription_.generic().overwritten();
            next.sequence = info.sequence + 1;
            return overwritten_;
        }
        next_.push_back({info.publisher_gid, info.sequence + 1});
        return overwritten_ = subscription_.generic().overwritten();
    }

    gantry::Subscription<M> subscription_;
    bool is_zero_copy_;
    std::optional<gantry::Sample<M>> held_;
    std::vector<uint64_t> own_; // the copy of the last message
    std::vector<Next> next_;
    uint64_t overwritten_ = 0;
};

template <class M> MessageType message_type() {
    return {
        gantry::message<M>::name,
        [](const perf_test_run &run, const perf_test_endpoint &plan) -> gantry::result<std::unique_ptr<Publisher>> {
            auto node = node_of(run, plan);
            if (!node) return node.error();
            auto options = gantry::detail::sized<gantry_publisher_options>();
            options.max_inline_bytes = MAX_INLINE_BYTES;
            auto publisher = node->create_publisher<M>(plan.topic, qos_of(plan.qos), &options);
            if (!publisher) return publisher.error();
            auto made = std::make_unique<TypedPublisher<M>>(*std::move(node), *std::move(publisher), run, plan);
            if (auto prepared = made->prepare(); !prepared) return prepared.error();
            return gantry::result<std::unique_ptr<Publisher>>(std::move(made));
        },
        [](const perf_test_run &run, const perf_test_endpoint &plan) -> gantry::result<std::unique_ptr<Subscription>> {
            auto node = node_of(run, plan);
            if (!node) return node.error();
            auto subscription = node->create_subscription<M>(plan.topic, qos_of(plan.qos));
            if (!subscription) return subscription.error();
            auto set = subscription->generic().set_busy_wait(run.wait != PERF_TEST_BLOCK);
            if (!set) return set.error();
            return gantry::result<std::unique_ptr<Subscription>>(
                std::make_unique<TypedSubscription<M>>(*std::move(node), *std::move(subscription), run));
        },
    };
}
