// Subscriptions whose callbacks get messages in shared memory.
#pragma once

#include <gantry/sample.hpp>
#include <gantry_rclcpp/ready_subscriptions.hpp>
#include <gantry_rclcpp/rmw.hpp>

#include <rclcpp/rclcpp.hpp>
#include <rclcpp/waitable.hpp>

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace gantry {

// Calls a function with each message of the ROS type `Ros`, in shared memory. Executors wait for the rcl subscription
// itself, so a message costs no more wake-ups than in rclcpp. But they take messages through this object instead of
// through the rclcpp subscription.
template <class Ros>
class InPlaceSubscription final : public rclcpp::Waitable {
public:
    using SharedPtr = std::shared_ptr<InPlaceSubscription>;
    using Message = typename of_ros<Ros>::type;
    using Callback = std::function<void(Sample<Message>)>;

    // The callback group of `endpoint` must not be in an executor.
    InPlaceSubscription(std::shared_ptr<rclcpp::Subscription<Ros>> endpoint, rclcpp::CallbackGroup::SharedPtr unused_group,
                        Callback callback)
        : unused_group_(std::move(unused_group)),
          endpoint_(std::move(endpoint)),
          rcl_(endpoint_->get_subscription_handle()),
          rmw_(rcl_subscription_get_rmw_handle(rcl_.get())),
          functions_(detail::in_place_functions(rmw_->implementation_identifier).value()),
          callback_(std::move(callback)) {}
    // The user may keep `endpoint`. It must no longer call the executor's function, which refers to this object.
    ~InPlaceSubscription() override { InPlaceSubscription::clear_on_ready_callback(); }
    InPlaceSubscription(const InPlaceSubscription &) = delete;
    InPlaceSubscription &operator=(const InPlaceSubscription &) = delete;

    // The underlying subscription of rclcpp, with its topic, QoS and counts.
    const std::shared_ptr<rclcpp::Subscription<Ros>> &endpoint() const noexcept { return endpoint_; }

    std::size_t get_number_of_ready_subscriptions() override { return 1; }
    void add_to_wait_set(rcl_wait_set_t &wait_set) override {
        const rcl_ret_t added = rcl_wait_set_add_subscription(&wait_set, rcl_.get(), &index_);
        if (added != RCL_RET_OK) rclcpp::exceptions::throw_from_rcl_error(added, "a wait set has no room for a subscription");
    }
    bool is_ready(const rcl_wait_set_t &wait_set) override {
        return index_ < wait_set.size_of_subscriptions && wait_set.subscriptions[index_] == rcl_.get();
    }
    // Returns nothing, because execute takes the message itself.
    std::shared_ptr<void> take_data() override { return nullptr; }
    std::shared_ptr<void> take_data_by_entity_id(std::size_t) override { return nullptr; }
    // Takes the next message, if there is one, and calls the function with it. A malformed message is logged and
    // counted as lost.
    void execute(const std::shared_ptr<void> &) override {
        GenericSample bytes;
        if (functions_->take(rmw_, bytes.raw()) != RMW_RET_OK) return log(detail::rmw_error());
        if (!bytes) return;
        auto view = cdr::view<Message>(bytes.bytes().data(), bytes.bytes().size());
        if (view) return callback_(Sample<Message>(std::move(bytes), *std::move(view)));
        const char *why = view.error().message.c_str();
        if (functions_->skip_malformed(rmw_, bytes.raw(), why) != RMW_RET_OK) log(detail::rmw_error());
    }
    // An EventsQueue of gantry_rclcpp waits for the subscription itself. Otherwise a thread of rmw_gantry waits and
    // calls the callback.
    void set_on_ready_callback(std::function<void(std::size_t, int)> callback) override {
        InPlaceSubscription::clear_on_ready_callback();
        const auto found = detail::ReadySubscriptions::find(callback);
        if (found) {
            found->add(this, rcl_);
            ready_ = found;
            return;
        }
        endpoint_->set_on_new_message_callback(
            [callback = std::move(callback)](std::size_t count) { callback(count, 0); });
    }
    // This waitable has no timers. Kilted's rclcpp (29.4) declares the function as pure virtual, but Jazzy's does not
    // have it, so `override` would not compile there.
    std::vector<std::shared_ptr<rclcpp::TimerBase>> get_timers() const { return {}; }
    void clear_on_ready_callback() override {
        endpoint_->clear_on_new_message_callback();
        if (const auto ready = ready_.lock()) ready->remove(this);
        ready_.reset();
    }

private:
    void log(const error &why) const {
        RCLCPP_ERROR(rclcpp::get_logger("gantry_rclcpp"), "%s: %s", endpoint_->get_topic_name(), why.message.c_str());
    }

    rclcpp::CallbackGroup::SharedPtr unused_group_;
    std::shared_ptr<rclcpp::Subscription<Ros>> endpoint_;
    std::shared_ptr<rcl_subscription_t> rcl_;
    const rmw_subscription_t *rmw_;
    const rmw_gantry_functions *functions_;
    Callback callback_;
    std::size_t index_ = 0;
    std::weak_ptr<detail::ReadySubscriptions> ready_;
};

namespace detail {

// Finds the waitables interface of a node, given the node or a pointer to it.
template <class Node>
auto waitables_of(const Node &node, int) -> decltype(node->get_node_waitables_interface()) {
    return node->get_node_waitables_interface();
}
template <class Node>
auto waitables_of(Node &node, long) -> decltype(node.get_node_waitables_interface()) {
    return node.get_node_waitables_interface();
}

}  // namespace detail

// Creates a subscription like rclcpp::create_subscription. `callback` gets a Sample of the message's class in
// gantry_msgs. The subscription ends when the returned pointer is dropped. Intra-process communication is disabled,
// because messages in shared memory do not use it. Topic statistics are disabled, because rclcpp measures them only
// where it takes messages itself.
//
// Throws gantry::exception if the node does not use rmw_gantry, and the exceptions of rclcpp::create_subscription.
template <class Ros, class Node>
std::shared_ptr<InPlaceSubscription<Ros>> create_subscription(Node &&node, const std::string &topic, const rclcpp::QoS &qos,
                                                              typename InPlaceSubscription<Ros>::Callback callback,
                                                              const rclcpp::SubscriptionOptions &options = {}) {
    auto *base = rclcpp::node_interfaces::get_node_topics_interface(node)->get_node_base_interface();
    auto waitables = detail::waitables_of(node, 0);
    // rclcpp creates the subscription and its events. Its callback group is added to no executor, because an executor
    // would take the messages.
    auto unused_group = base->create_callback_group(rclcpp::CallbackGroupType::MutuallyExclusive, false);
    auto own_options = options;
    own_options.callback_group = unused_group;
    own_options.use_intra_process_comm = rclcpp::IntraProcessSetting::Disable;
    own_options.topic_stats_options.state = rclcpp::TopicStatisticsState::Disable;
    const auto misused = [](std::shared_ptr<const Ros>) {
        RCLCPP_ERROR(rclcpp::get_logger("gantry_rclcpp"),
                     "an executor took a message from the endpoint of a subscription in place, whose callback misses it: give "
                     "the executor the node, not the callback group of the endpoint");
    };
    auto endpoint = rclcpp::create_subscription<Ros>(node, topic, qos, misused, own_options);
    auto made = std::make_shared<InPlaceSubscription<Ros>>(endpoint, std::move(unused_group), std::move(callback));
    for (const auto &event : endpoint->get_event_handlers()) waitables->add_waitable(event.second, options.callback_group);
    waitables->add_waitable(made, options.callback_group);
    return made;
}

}  // namespace gantry
