// Publishers of messages in place.
#pragma once

#include <gantry/loan.hpp>
#include <gantry_rclcpp/rmw.hpp>

#include <rclcpp/rclcpp.hpp>

#include <memory>
#include <string>
#include <utility>

namespace gantry {

// Publishes messages of the ROS type `Ros`, which are written in shared memory. Any thread may use it.
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

    // A message in shared memory, as gantry::Publisher::loan gives it.
    result<Loan<Message>> loan(const Shape &shape = {}) {
        return detail::loan<Message>(shape, [this](std::size_t size) -> result<GenericLoan> {
            gantry_loan raw = {};
            if (functions_->loan(rmw_, size, &raw) != RMW_RET_OK) return detail::rmw_error();
            return GenericLoan(raw);
        });
    }
    // After a failure the loan is the caller's still.
    result<void> publish(Loan<Message> &&loan) {
        if (functions_->publish(rmw_, loan.generic().raw()) != RMW_RET_OK) return detail::rmw_error();
        return {};
    }
    // Loans, lets `fill` write, and publishes.
    template <class Fill>
    result<void> publish(const Shape &shape, Fill &&fill) {
        auto made = loan(shape);
        if (!made) return made.error();
        fill(**made);
        return publish(*std::move(made));
    }

    // The publisher of rclcpp: its topic, QoS and counts. It may also publish messages of ROS 2, which are copied.
    const std::shared_ptr<rclcpp::Publisher<Ros>> &endpoint() const noexcept { return endpoint_; }

private:
    std::shared_ptr<rclcpp::Publisher<Ros>> endpoint_;
    const rmw_publisher_t *rmw_;
    const rmw_gantry_functions *functions_;
};

// Acts as rclcpp::create_publisher. Messages in place do not go the way of rclcpp's intra-process communication, so it is off.
// The publisher of a lifecycle node publishes in every state: activation guards rclcpp_lifecycle::LifecyclePublisher only.
//
// Throws gantry::exception if the node does not run over rmw_gantry, and what rclcpp::create_publisher throws.
template <class Ros, class Node>
std::shared_ptr<InPlacePublisher<Ros>> create_publisher(Node &&node, const std::string &topic, const rclcpp::QoS &qos,
                                                        rclcpp::PublisherOptions options = {}) {
    options.use_intra_process_comm = rclcpp::IntraProcessSetting::Disable;
    auto endpoint = rclcpp::create_publisher<Ros>(std::forward<Node>(node), topic, qos, options);
    return std::make_shared<InPlacePublisher<Ros>>(std::move(endpoint));
}

}  // namespace gantry
