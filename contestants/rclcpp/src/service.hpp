// Clients and servers of nodes: rclcpp's own, in the executors of topologies.
#pragma once

#include <initializer_list>
#include <memory>
#include <string>

#include "endpoint.hpp"
#include "perf_test_backend.h"
#include "rclcpp/rclcpp.hpp"
#include "rclcpp/version.h"

// Humble does not count the clients of a service.
#define HAS_SERVICES RCLCPP_VERSION_GTE(21, 0, 0)

int create_client(void *session, const perf_test_run *run, const perf_test_endpoint *plan,
                  perf_test_service_end *client, perf_test_error *error);
int create_server(void *session, const perf_test_run *run, const perf_test_endpoint *plan,
                  perf_test_service_end *server, perf_test_error *error);
// From now on the callback of the receiving end calls its destination. Returns its node.
rclcpp::Node::SharedPtr start_client(void *receiver, perf_test_sink *responses);
rclcpp::Node::SharedPtr start_server(void *receiver, perf_test_responder *requests);

// The common part of both ends of a client or a server, and their destination.
struct ServiceEnds {
    explicit ServiceEnds(const Plan &plan);
    virtual ~ServiceEnds() = default;
    virtual std::size_t matched() = 0;
    virtual void send(perf_test_draft *draft) = 0;

    rclcpp::Node::SharedPtr node;
    perf_test_message type;
    perf_test_sink *responses = nullptr;
    perf_test_responder *requests = nullptr;
};

// A type of services whose request and response are one message.
struct ServiceType {
    const char *message; // as irobot_interfaces_plugin/msg/Stamped10b
    std::shared_ptr<ServiceEnds> (*client)(const Plan &plan);
    std::shared_ptr<ServiceEnds> (*server)(const Plan &plan);
};

// Adds types before main begins.
bool add_service_types(std::initializer_list<ServiceType> types);
