// Publishers and subscriptions behind the functions of a back end.
#pragma once

#include <gantry.hpp>

#include <memory>
#include <string>

#include "perf_test_backend.h"

// A publisher or a subscription, and its node.
struct Endpoint {
    explicit Endpoint(gantry::Node own_node) : node(std::move(own_node)) {}
    virtual ~Endpoint() = default;
    virtual gantry::result<size_t> matched() = 0;
    virtual gantry::result<std::vector<std::string>> mismatches() = 0;

    gantry::Node node;
};

struct Publisher : Endpoint {
    using Endpoint::Endpoint;
    virtual gantry::result<void> publish(perf_test_draft *draft) = 0;

    gantry_gid gid = {};
    bool is_loaned = false;
};

struct Subscription : Endpoint {
    using Endpoint::Endpoint;
    // False if there is no message.
    virtual gantry::result<bool> take(perf_test_taken *taken) = 0;
    virtual void release() = 0;
    virtual gantry::result<bool> wait(std::chrono::nanoseconds timeout) = 0;
    virtual uint64_t overwritten() = 0;
};

// A benchmark message.
struct MessageType {
    const char *name; // as performance_test/msg/Array1k
    gantry::result<std::unique_ptr<Publisher>> (*publisher)(const perf_test_run &run, const perf_test_endpoint &plan);
    gantry::result<std::unique_ptr<Subscription>> (*subscription)(const perf_test_run &run, const perf_test_endpoint &plan);
};

// Tables of the messages, which `build` writes; the last table is null, and the last message of a table has no name.
extern const MessageType *const MESSAGE_TYPES[];

// The node of an endpoint.
gantry::result<gantry::Node> node_of(const perf_test_run &run, const perf_test_endpoint &plan);
gantry::QoS qos_of(const perf_test_qos &qos);

extern const perf_test_publisher_functions PUBLISHER_FUNCTIONS;
extern const perf_test_subscription_functions SUBSCRIPTION_FUNCTIONS;
