// Nodes, which create publishers, subscriptions, services, clients and timers.
#pragma once

#include <gantry/callback.hpp>
#include <gantry/endpoint_info.hpp>
#include <gantry/parameter.hpp>
#include <gantry/publisher.hpp>
#include <gantry/type_list.hpp>

#include <map>

namespace gantry {

// The options of a node.
struct NodeOptions {
    std::string name_space;
    // The ROS arguments of this node, for example {"--ros-args", "-r", "from:=to"}.
    std::vector<std::string> arguments;
    // The domain; without a value ROS_DOMAIN_ID, or 0.
    std::optional<std::uint32_t> domain_id;
    bool use_global_arguments = true;
    // A parameter may be set before it is declared, which declares it.
    bool allow_undeclared_parameters = false;
    // Each parameter with a value in the ROS arguments is declared, with dynamic typing.
    bool automatically_declare_parameters_from_overrides = false;
};

// A node: a named member of a domain. Copies refer to the same node. Any thread may use it.
class Node : public detail::parameter_methods<Node> {
public:
    static result<Node> create(const std::string &name, const NodeOptions &options = {}) {
        std::vector<const char *> arguments;
        for (const auto &argument : options.arguments) arguments.push_back(argument.c_str());
        auto raw = detail::sized<gantry_node_options>();
        raw.name_space = options.name_space.empty() ? nullptr : options.name_space.c_str();
        raw.arguments = arguments.data();
        raw.argument_count = arguments.size();
        raw.domain_id = options.domain_id.value_or(0);
        raw.sets_domain_id = options.domain_id.has_value();
        raw.ignores_global_arguments = !options.use_global_arguments;
        raw.allows_undeclared_parameters = options.allow_undeclared_parameters;
        raw.declares_parameters_from_overrides = options.automatically_declare_parameters_from_overrides;
        gantry_node *made = nullptr;
        const gantry_status status = gantry_node_create(name.c_str(), &raw, &made);
        if (status < 0) return error::last(status);
        handle owned(made);
        auto changed = GuardCondition::create();
        if (!changed) return changed.error();
        return Node(std::make_shared<state>(std::move(owned), *std::move(changed)));
    }
    // The same as create(name, options).value().
    template <class Ending = detail::ending>
    explicit Node(const std::string &name, const NodeOptions &options = {})
        : Node(create(name, options).template value<Ending>()) {}

    template <class M>
    result<Publisher<M>> create_publisher(const std::string &topic, const QoS &qos = {},
                                          const gantry_publisher_options *options = nullptr) const {
        auto generic = create_generic_publisher(topic, message<M>::type(), qos, options);
        if (!generic) return generic.error();
        return Publisher<M>(*std::move(generic));
    }
    template <class M>
    result<Subscription<M>> create_subscription(const std::string &topic, const QoS &qos = {}) const {
        auto generic = create_generic_subscription(topic, message<M>::type(), qos);
        if (!generic) return generic.error();
        return Subscription<M>(*std::move(generic));
    }
    // Creates a subscription with a callback. An executor of the node calls the callback with each Sample<M>. The
    // subscription ends when the returned pointer is dropped.
    template <class M, class Function>
    result<std::shared_ptr<Subscription<M>>> create_subscription(const std::string &topic, const QoS &qos, Function function,
                                                                 std::shared_ptr<CallbackGroup> group = nullptr) const {
        auto made = create_subscription<M>(topic, qos);
        if (!made) return made.error();
        auto take = [function = std::move(function)](Subscription<M> &source) mutable {
            auto taken = source.take();
            if (!taken) return result<void>(taken.error());
            if (*taken) function(**std::move(taken));
            return result<void>();
        };
        return add(*std::move(made), std::move(take), std::move(group));
    }

    template <class S>
    result<Service<S>> create_service(const std::string &name, const QoS &qos = {}) const {
        gantry_service *made = nullptr;
        const gantry_status status =
            gantry_service_create(raw(), name.c_str(), &S::type(), &qos.get(), &made);
        if (status < 0) return error::last(status);
        return Service<S>(made);
    }
    // Creates a service with a callback: function(Request<S> request, Service<S> &service).
    template <class S, class Function, class = std::enable_if_t<std::is_invocable_v<Function, Request<S>, Service<S> &>>>
    result<std::shared_ptr<Service<S>>> create_service(const std::string &name, Function function, const QoS &qos = {},
                                                       std::shared_ptr<CallbackGroup> group = nullptr) const {
        auto made = create_service<S>(name, qos);
        if (!made) return made.error();
        auto take = [function = std::move(function)](Service<S> &source) mutable {
            auto taken = source.take_request();
            if (!taken) return result<void>(taken.error());
            if (*taken) function(**std::move(taken), source);
            return result<void>();
        };
        return add(*std::move(made), std::move(take), std::move(group));
    }
    template <class S>
    result<Client<S>> create_client(const std::string &name, const QoS &qos = {}) const {
        gantry_client *made = nullptr;
        const gantry_status status = gantry_client_create(raw(), name.c_str(), &S::type(), &qos.get(), &made);
        if (status < 0) return error::last(status);
        return Client<S>(made);
    }

    // Creates a timer on the node's clock: the steady clock, or /clock if use_sim_time is true.
    result<Timer> create_timer(std::chrono::nanoseconds period, bool is_one_shot = false) const {
        gantry_timer *made = nullptr;
        const gantry_status status = gantry_timer_create(raw(), detail::limit_ns(period), is_one_shot, &made);
        if (status < 0) return error::last(status);
        return Timer(made);
    }
    // Creates a timer with a callback: function(), or function(const gantry_tick &).
    template <class Function>
    result<std::shared_ptr<Timer>> create_timer(std::chrono::nanoseconds period, Function function,
                                                std::shared_ptr<CallbackGroup> group = nullptr) const {
        auto made = create_timer(period, false);
        if (!made) return made.error();
        auto take = [function = std::move(function)](Timer &source) mutable {
            auto tick = source.take();
            if (!tick) return result<void>(tick.error());
            if (*tick) {
                if constexpr (std::is_invocable_v<Function &, const gantry_tick &>)
                    function(**tick);
                else
                    function();
            }
            return result<void>();
        };
        return add(*std::move(made), std::move(take), std::move(group));
    }

    result<GenericPublisher> create_generic_publisher(const std::string &topic, const gantry_type &type,
                                                      const QoS &qos = {},
                                                      const gantry_publisher_options *options = nullptr) const {
        gantry_publisher *made = nullptr;
        const gantry_status status =
            gantry_publisher_create(raw(), topic.c_str(), &type, &qos.get(), options, &made);
        if (status < 0) return error::last(status);
        return GenericPublisher(made);
    }
    result<GenericSubscription> create_generic_subscription(const std::string &topic, const gantry_type &type,
                                                            const QoS &qos = {}) const {
        gantry_subscription *made = nullptr;
        const gantry_status status = gantry_subscription_create(raw(), topic.c_str(), &type, &qos.get(), &made);
        if (status < 0) return error::last(status);
        return GenericSubscription(made);
    }

    // Creates a callback group for create_subscription, create_service and create_timer.
    static std::shared_ptr<CallbackGroup> create_callback_group(CallbackGroupType type) {
        return std::make_shared<CallbackGroup>(type);
    }

    const char *get_fully_qualified_name() const noexcept { return gantry_node_full_name(raw()); }
    // Expands and remaps the name of a topic for this node.
    result<std::string> resolve_topic_name(const std::string &topic) const {
        auto name = detail::strings([&](auto **list) { return gantry_node_resolve_topic_name(raw(), topic.c_str(), list); });
        if (!name) return name.error();
        return result<std::string>(std::move(name->front()));
    }
    // The present ROS time, since 1970.
    std::chrono::nanoseconds now() const noexcept {
        std::uint64_t now_ns = 0;
        gantry_node_now(raw(), &now_ns);
        return std::chrono::nanoseconds(now_ns);
    }

    result<std::vector<std::string>> get_node_names() const {
        return detail::strings([this](auto **list) { return gantry_node_node_names(raw(), list); });
    }
    // The names of all topics with their types.
    result<std::map<std::string, std::vector<std::string>>> get_topic_names_and_types() const {
        return by_name([this](auto **list) { return gantry_node_topic_names_and_types(raw(), list); });
    }
    result<std::map<std::string, std::vector<std::string>>> get_service_names_and_types() const {
        return by_name([this](auto **list) { return gantry_node_service_names_and_types(raw(), list); });
    }
    // The types that are published on a topic now, each once. With them, a program can subscribe to a topic whose type
    // it does not know.
    result<TypeList> get_topic_types(const std::string &topic) const {
        return TypeList::create([&](auto **list) { return gantry_node_topic_types(raw(), topic.c_str(), list); });
    }
    result<ServiceTypeList> get_service_types(const std::string &service) const {
        return ServiceTypeList::create([&](auto **list) { return gantry_node_service_types(raw(), service.c_str(), list); });
    }
    result<std::size_t> count_publishers(const std::string &topic) const {
        std::size_t count = 0;
        const gantry_status status = gantry_node_count_endpoints(raw(), topic.c_str(), &count, nullptr);
        if (status < 0) return error::last(status);
        return count;
    }
    result<std::size_t> count_subscribers(const std::string &topic) const {
        std::size_t count = 0;
        const gantry_status status = gantry_node_count_endpoints(raw(), topic.c_str(), nullptr, &count);
        if (status < 0) return error::last(status);
        return count;
    }
    result<std::vector<TopicEndpointInfo>> get_publishers_info_by_topic(const std::string &topic) const {
        return detail::endpoints_info(raw(), topic, GANTRY_ENDPOINT_PUBLISHER);
    }
    result<std::vector<TopicEndpointInfo>> get_subscriptions_info_by_topic(const std::string &topic) const {
        return detail::endpoints_info(raw(), topic, GANTRY_ENDPOINT_SUBSCRIPTION);
    }
    // Waits until the graph changes. Returns false after the timeout.
    result<bool> wait_for_graph_change(std::chrono::nanoseconds timeout) const {
        return detail::whether(gantry_node_wait_for_graph_change(raw(), detail::timeout_ns(timeout)));
    }
    // The changes of the graph from now on, as events.
    result<Events> graph_events() const {
        gantry_events *made = nullptr;
        const gantry_status status = gantry_node_graph_events(raw(), &made);
        if (status < 0) return error::last(status);
        return Events(made);
    }

    gantry_node *raw() const noexcept { return state_->node.get(); }
    // The node's callbacks, for executors.
    detail::callbacks &callbacks() const noexcept { return state_->callbacks; }

private:
    using handle = detail::handle<gantry_node, gantry_node_destroy>;

    struct state {
        state(handle node, GuardCondition changed) noexcept : node(std::move(node)), callbacks(std::move(changed)) {}
        handle node;
        detail::callbacks callbacks;
    };

    explicit Node(std::shared_ptr<state> made) noexcept : state_(std::move(made)) {}

    template <class Source, class Take>
    result<std::shared_ptr<Source>> add(Source source, Take take, std::shared_ptr<CallbackGroup> group) const {
        return state_->callbacks.add(std::move(source), std::move(take), std::move(group));
    }

    template <class Make>
    static result<std::map<std::string, std::vector<std::string>>> by_name(Make make) {
        auto pairs = detail::strings(make);
        if (!pairs) return pairs.error();
        std::map<std::string, std::vector<std::string>> named;
        for (std::size_t i = 0; i + 1 < pairs->size(); i += 2) named[(*pairs)[i]].push_back((*pairs)[i + 1]);
        return result<std::map<std::string, std::vector<std::string>>>(std::move(named));
    }

    std::shared_ptr<state> state_;
};

}  // namespace gantry
