// The clients and servers of topologies: rclcpp's own, in rclcpp's executors.
#pragma once

#include <initializer_list>
#include <memory>
#include <string>

#include "endpoint.hpp"
#include "perf_test_backend.h"
#include "rclcpp/rclcpp.hpp"
#include "rclcpp/version.h"

// Services need Iron or later: Humble does not count the clients of a service.
#define HAS_SERVICES RCLCPP_VERSION_GTE(21, 0, 0)

int create_client(void *session, const perf_test_run *run, const perf_test_endpoint *plan,
                  perf_test_service_end *client, perf_test_error *error);
int create_server(void *session, const perf_test_run *run, const perf_test_endpoint *plan,
                  perf_test_service_end *server, perf_test_error *error);
// Makes the receiving end of a client or a server call `responses` or `requests` from now on. Returns the node of the
// endpoint.
rclcpp::Node::SharedPtr start_client(void *receiver, perf_test_sink *responses);
rclcpp::Node::SharedPtr start_server(void *receiver, perf_test_responder *requests);

// The common part of a client and a server: both ends, and the destination of received responses or requests.
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

// A service type whose request and response contain the same message.
struct ServiceType {
    const char *message; // as irobot_interfaces_plugin/msg/Stamped10b
    std::shared_ptr<ServiceEnds> (*client)(const Plan &plan);
    std::shared_ptr<ServiceEnds> (*server)(const Plan &plan);
};

// Adds service types to the list; static initialisers call this function before main.
bool add_service_types(std::initializer_list<ServiceType> types);
