// A publisher or a subscription of any message type, and the list of the message types in this program.
#pragma once

#include <cstdint>
#include <future>
#include <initializer_list>
#include <memory>
#include <string>

#include "perf_test_backend.h"
#include "rclcpp/rclcpp.hpp"

// The number of bits of a message's id that count messages. With intra-process=on a message has no GID of its publisher
// (rclcpp fills the GID with zeros), so the bits above contain the publisher's number.
constexpr unsigned ID_BITS = 48;
constexpr std::uint64_t ID_MASK = (std::uint64_t{1} << ID_BITS) - 1;

// The description of an endpoint and of its run.
struct Plan {
    const perf_test_run &run;
    const perf_test_endpoint &endpoint;
};

// True if the setting intra-process is on.
bool is_intra_process(const perf_test_run &run);
rclcpp::QoS qos_of(const perf_test_qos &qos);
// Finds or creates the node of this full name. Its endpoints and its executor share the node, which lives as long as
// one of them.
rclcpp::Node::SharedPtr shared_node(const perf_test_run &run, const std::string &full_name);

// Throws if the RMW has replaced the requested QoS.
void check_qos(const perf_test_qos &asked, const rclcpp::QoS &actual);

// A publisher, or the sending end of a client or a server.
class Sender {
public:
    virtual ~Sender() = default;
    virtual void publish(perf_test_draft *draft, perf_test_sent *sent) = 0;
    // The number of endpoints of the other side.
    virtual std::size_t matched() = 0;
    // Writes the publisher's id as subscriptions see it. Returns false if there is no such id.
    virtual bool source(std::uint8_t id[16]) = 0;
};

// A subscription, or the receiving end of a client or a server.
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
    bool is_owning_; // publishes a new owned message each time
    bool is_intra_process_;
    std::uint64_t id_mask_; // the bits of an id that count messages
    std::uint64_t id_mark_; // the bits of an id with the publisher's number
};

// A subscription whose messages an executor delivers on its threads: the subscription's own executor or, in a topology,
// the executor of its node.
class Subscription : public Receiver {
public:
    ~Subscription() override;
    virtual rclcpp::SubscriptionBase &base() = 0;
    std::size_t matched() override { return base().get_publisher_count(); }
    void start(perf_test_sink *sink);
    // Stops the delivery, and waits until no callback is running.
    void stop();
    // Starts the delivery by the executor of the node, and returns the node.
    rclcpp::Node::SharedPtr start_in_executor(perf_test_sink *sink);

protected:
    explicit Subscription(const Plan &plan);
    // Completes and records a message; runs on a thread of the executor.
    void deliver(perf_test_taken &taken, const rclcpp::MessageInfo &info);

    rclcpp::Node::SharedPtr node_;

private:
    bool is_intra_process_;
    std::string executor_name_;
    std::unique_ptr<rclcpp::Executor> executor_;
    perf_test_sink *sink_ = nullptr;
    std::future<void> spinning_;
};

// Returns the subscription behind an untyped pointer of the C interface.
inline Subscription &subscription_of(void *endpoint) {
    return *static_cast<Subscription *>(static_cast<Receiver *>(endpoint));
}

// A message type of this program.
struct MessageType {
    const char *name; // as performance_test/msg/Array4m
    std::unique_ptr<Publisher> (*publisher)(const Plan &plan);
    std::unique_ptr<Subscription> (*subscription)(const Plan &plan);
    // Returns true if the RMW loans messages of this type to publishers, in memory that subscriptions share.
    bool (*is_loaned)(rclcpp::Node &node);
};

// Adds message types to the list; static initialisers call this function before main.
bool add_message_types(std::initializer_list<MessageType> types);
// Throws if this program does not have the type.
const MessageType &find_message_type(const std::string &name);
