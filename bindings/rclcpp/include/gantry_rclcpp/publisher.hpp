// Publishers of messages in shared memory.
#pragma once

#include <gantry/loan.hpp>
#include <gantry_rclcpp/rmw.hpp>

#include <rclcpp/rclcpp.hpp>

#include <memory>
#include <string>
#include <utility>

namespace gantry {

// Publishes messages of the ROS type `Ros`, which the program writes in shared memory. Any thread may use it.
template <class Ros>
class InPlacePublisher {
public:
    using SharedPtr = std::shared_ptr<InPlacePublisher>;
    using Message = typename of_ros<Ros>::type;
    using Shape = typename message<Message>::shape;

    explicit InPlacePublisher(std::shared_ptr<rclcpp::Publisher<Ros>> endpoint)
        : endpoint_(std::move(endpoint)),
          rmw_(rcl_publisher_get_rmw_handle(endpoint_->get_publisher_handle().get())),
          functions_(detail::in_place_functions(rmw_->implementation_identifier).value()) {}

    // Loans a message in shared memory, like gantry::Publisher::loan.
    result<Loan<Message>> loan(const Shape &shape = {}) {
        return detail::loan<Message>(shape, [this](std::size_t size, gantry_loan *made) -> result<void> {
            if (functions_->loan(rmw_, size, made) != RMW_RET_OK) return detail::rmw_error();
            return {};
        });
    }
    // Publishes a loan. After a failure the caller still owns the loan.
    result<void> publish(Loan<Message> &&loan) {
        if (functions_->publish(rmw_, loan.generic().raw()) != RMW_RET_OK) return detail::rmw_error();
        return {};
    }
    // Loans a message, calls `fill` to write it, and publishes it.
    template <class Fill>
    result<void> publish(const Shape &shape, Fill &&fill) {
        auto made = loan(shape);
        if (!made) return made.error();
        fill(**made);
        return publish(*std::move(made));
    }

    // The underlying publisher of rclcpp, with its topic, QoS and counts. It may also publish messages of ROS 2, which
    // are copied.
    const std::shared_ptr<rclcpp::Publisher<Ros>> &endpoint() const noexcept { return endpoint_; }

private:
    std::shared_ptr<rclcpp::Publisher<Ros>> endpoint_;
    const rmw_publisher_t *rmw_;
    const rmw_gantry_functions *functions_;
};

// Creates a publisher like rclcpp::create_publisher. It disables intra-process communication, because messages in
// shared memory do not use it. In a lifecycle node, the publisher publishes in every state, because only
// rclcpp_lifecycle::LifecyclePublisher checks whether the node is active.
//
// Throws gantry::exception if the node does not use rmw_gantry, and the exceptions of rclcpp::create_publisher.
template <class Ros, class Node>
std::shared_ptr<InPlacePublisher<Ros>> create_publisher(Node &&node, const std::string &topic, const rclcpp::QoS &qos,
                                                        rclcpp::PublisherOptions options = {}) {
    options.use_intra_process_comm = rclcpp::IntraProcessSetting::Disable;
    auto endpoint = rclcpp::create_publisher<Ros>(std::forward<Node>(node), topic, qos, options);
    return std::make_shared<InPlacePublisher<Ros>>(std::move(endpoint));
}

}  // namespace gantry
