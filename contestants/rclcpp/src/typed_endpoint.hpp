// The publisher and the subscription of one message type.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "endpoint.hpp"
#include "message.hpp"
#include "rmw.hpp"

template <class T> class TypedPublisher : public Publisher {
public:
    explicit TypedPublisher(const Plan &plan)
        : Publisher(plan), publisher_(node_->create_publisher<T>(plan.endpoint.topic, qos_of(plan.endpoint.qos))),
          message_(std::make_unique<T>()) {
        message::prepare(*message_, type_);
    }

    void publish(perf_test_draft *draft, perf_test_sent *sent) override {
        if (is_loaning_) {
            auto loan = publisher_->borrow_loaned_message();
            if (!is_shared_) {
                is_shared_ = publisher_->can_loan_messages() && is_shared(&loan.get());
            }
            message::fill(loan.get(), draft, id_mask_, id_mark_);
            publisher_->publish(std::move(loan));
            sent->loaned = *is_shared_;
        } else if (is_owning_) { // publishes an owned message
            auto owned = std::make_unique<T>();
            message::prepare(*owned, type_);
            message::fill(*owned, draft, id_mask_, id_mark_);
            publisher_->publish(std::move(owned));
        } else {
            message::fill(*message_, draft, id_mask_, id_mark_);
            publisher_->publish(*message_);
        }
    }

    rclcpp::PublisherBase &base() override { return *publisher_; }

private:
    std::shared_ptr<rclcpp::Publisher<T>> publisher_;
    std::unique_ptr<T> message_; // the message of the copy path
    std::optional<bool> is_shared_; // whether loans lie in shared memory; set at the first loan
};

template <class T> class TypedSubscription : public Subscription {
public:
    explicit TypedSubscription(const Plan &plan)
        : Subscription(plan), overhead_bytes_(message::overhead_bytes<T>(plan.endpoint.message)) {
        const std::string topic = plan.endpoint.topic;
        const rclcpp::QoS qos = qos_of(plan.endpoint.qos);
        if (plan.endpoint.pass_by == PERF_TEST_UNIQUE_PTR) {
            const auto callback = [this](std::unique_ptr<T> message, const rclcpp::MessageInfo &info) {
                take(*message, info);
            };
            subscription_ = node_->create_subscription<T>(topic, qos, callback);
        } else if (is_intra_process(plan.run)) { // several such callbacks of a process share one message
            const auto callback = [this](std::shared_ptr<const T> message, const rclcpp::MessageInfo &info) {
                take(*message, info);
            };
            subscription_ = node_->create_subscription<T>(topic, qos, callback);
        } else { // a reference: the callback cannot keep the loan
            const auto callback = [this](const T &message, const rclcpp::MessageInfo &info) { take(message, info); };
            subscription_ = node_->create_subscription<T>(topic, qos, callback);
        }
        // For a callback with unique_ptr, rclcpp copies the loan.
        is_loaned_ = subscription_->can_loan_messages() && plan.endpoint.pass_by != PERF_TEST_UNIQUE_PTR;
    }

    ~TypedSubscription() override { stop(); }

    rclcpp::SubscriptionBase &base() override { return *subscription_; }

private:
    void take(const T &message, const rclcpp::MessageInfo &info) {
        perf_test_taken taken{};
        taken.received_ns = perf_test_now_ns();
        message::read(message, overhead_bytes_, taken);
        if (is_loaned_ && !is_shared_) {
            is_shared_ = is_shared(&message);
        }
        taken.loaned = is_shared_.value_or(false) && !info.get_rmw_message_info().from_intra_process;
        deliver(taken, info);
    }

    std::shared_ptr<rclcpp::Subscription<T>> subscription_;
    std::uint64_t overhead_bytes_; // the bytes of a message that are not payload
    bool is_loaned_ = false;
    std::optional<bool> is_shared_; // whether loans lie in shared memory; set at the first loan
};

template <class T> MessageType message_type(const char *name) {
    return {
        name,
        [](const Plan &plan) -> std::unique_ptr<Publisher> { return std::make_unique<TypedPublisher<T>>(plan); },
        [](const Plan &plan) -> std::unique_ptr<Subscription> { return std::make_unique<TypedSubscription<T>>(plan); },
        [](rclcpp::Node &node) {
            const auto publisher = node.create_publisher<T>("perf_test_loans", 1);
            return publisher->can_loan_messages() && is_shared(&publisher->borrow_loaned_message().get());
        },
    };
}
