// A publisher or a subscription of any message type, and the types that this program has.
#pragma once

#include <cstdint>
#include <future>
#include <initializer_list>
#include <memory>
#include <string>

#include "perf_test_backend.h"
#include "rclcpp/rclcpp.hpp"

// With intra-process=on a message has no GID of its publisher (rclcpp fills it with zeros), so the id of the message
// has the publisher's number above these bits.
constexpr unsigned ID_BITS = 48;
constexpr std::uint64_t ID_MASK = (std::uint64_t{1} << ID_BITS) - 1;

// The parts of which an endpoint is made.
struct Plan {
    const perf_test_run &run;
    const perf_test_endpoint &endpoint;
};

// Whether the setting intra-process is on.
bool is_intra_process(const perf_test_run &run);
rclcpp::QoS qos_of(const perf_test_qos &qos);
// The node of this full name, which its endpoints and its executor share; it lives as long as they do.
rclcpp::Node::SharedPtr shared_node(const perf_test_run &run, const std::string &full_name);

// Throws if the RMW does not carry out the QoS that was asked for.
void check_qos(const perf_test_qos &asked, const rclcpp::QoS &actual);

// A publisher, or the end of a client or a server that sends.
class Sender {
public:
    virtual ~Sender() = default;
    virtual void publish(perf_test_draft *draft, perf_test_sent *sent) = 0;
    // The number of endpoints of the other side.
    virtual std::size_t matched() = 0;
    // Writes the source of its messages as subscriptions see it. Returns whether it has one.
    virtual bool source(std::uint8_t id[16]) = 0;
};

// A subscription, or the end of a client or a server that receives.
class Receiver {
public:
    virtual ~Receiver() = default;
    // The number of endpoints of the other side.
    virtual std::size_t matched() = 0;
};

class Publisher : public Sender {
public:
    virtual rclcpp::PublisherBase &base() = 0;
    std::size_t matched() override { return base().get_subscription_count(); }
    bool source(std::uint8_t id[16]) override;

protected:
    explicit Publisher(const Plan &plan);

    rclcpp::Node::SharedPtr node_;
    perf_test_message type_;
    bool is_loaning_;
    bool is_owning_; // it hands over a message of its own each time
    bool is_intra_process_;
    std::uint64_t id_mask_; // the bits of an id that count messages
    std::uint64_t id_mark_; // the bits of an id that tell the publisher
};

// Its messages are delivered by an executor of its own, or by that of its node, in the threads of that executor.
class Subscription : public Receiver {
public:
    ~Subscription() override;
    virtual rclcpp::SubscriptionBase &base() = 0;
    std::size_t matched() override { return base().get_publisher_count(); }
    void start(perf_test_sink *sink);
    // Returns when no callback is running.
    void stop();
    // In the executor of its node, which is returned.
    rclcpp::Node::SharedPtr start_in_executor(perf_test_sink *sink);

protected:
    explicit Subscription(const Plan &plan);
    // Completes and records a message. On a thread of the executor.
    void deliver(perf_test_taken &taken, const rclcpp::MessageInfo &info);

    rclcpp::Node::SharedPtr node_;

private:
    bool is_intra_process_;
    std::string executor_name_;
    std::unique_ptr<rclcpp::Executor> executor_;
    perf_test_sink *sink_ = nullptr;
    std::future<void> spinning_;
};

// A subscription of the functions of C.
inline Subscription &subscription_of(void *endpoint) {
    return *static_cast<Subscription *>(static_cast<Receiver *>(endpoint));
}

// A type of messages.
struct MessageType {
    const char *name; // as performance_test/msg/Array4m
    std::unique_ptr<Publisher> (*publisher)(const Plan &plan);
    std::unique_ptr<Subscription> (*subscription)(const Plan &plan);
    // Whether the RMW loans messages of this type to publishers, in memory that subscriptions share.
    bool (*is_loaned)(rclcpp::Node &node);
};

// Adds types before main begins.
bool add_message_types(std::initializer_list<MessageType> types);
// Throws if this program does not have it.
const MessageType &find_message_type(const std::string &name);
