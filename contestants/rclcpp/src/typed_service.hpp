// The client and the server of one service type.
#pragma once

#include <cstring>
#include <memory>
#include <utility>

#include "message.hpp"
#include "service.hpp"

template <class T> class TypedClient : public ServiceEnds {
public:
    explicit TypedClient(const Plan &plan)
        : ServiceEnds(plan), client_(node->create_client<T>(plan.endpoint.topic, qos_of(plan.endpoint.qos))),
          overhead_bytes_(message::overhead_bytes<typename T::Response>(type)) {
        check_qos(plan.endpoint.qos, client_->get_request_publisher_actual_qos());
        check_qos(plan.endpoint.qos, client_->get_response_subscription_actual_qos());
    }

    std::size_t matched() override { return client_->service_is_ready() ? 1 : 0; }

    void send(perf_test_draft *draft) override {
        const auto request = std::make_shared<typename T::Request>();
        message::prepare(*request, type);
        message::fill(*request, draft, type.last_id, 0);
        client_->async_send_request(request, [this](typename rclcpp::Client<T>::SharedFuture response) {
            perf_test_taken taken{};
            taken.received_ns = perf_test_now_ns();
            message::read(*response.get(), overhead_bytes_, taken);
            perf_test_sink_taken(responses, &taken);
        });
    }

private:
    std::shared_ptr<rclcpp::Client<T>> client_;
    std::uint64_t overhead_bytes_;
};

template <class T> class TypedServer : public ServiceEnds {
    using Id = std::shared_ptr<rmw_request_id_t>;
    using Request = std::shared_ptr<typename T::Request>;

public:
    explicit TypedServer(const Plan &plan)
        : ServiceEnds(plan), overhead_bytes_(message::overhead_bytes<typename T::Request>(type)) {
        const auto callback = [this](Id id, Request request) { serve(id, *request); };
        service_ = node->create_service<T>(plan.endpoint.topic, callback, qos_of(plan.endpoint.qos));
        check_qos(plan.endpoint.qos, service_->get_request_subscription_actual_qos());
        check_qos(plan.endpoint.qos, service_->get_response_publisher_actual_qos());
        message::prepare(response_, type);
    }

    std::size_t matched() override { return node->count_clients(service_->get_service_name()); }

    void send(perf_test_draft *draft) override {
        message::fill(response_, draft, type.last_id, 0);
        service_->send_response(*in_hand_, response_);
    }

private:
    void serve(const Id &id, const typename T::Request &request) {
        perf_test_taken taken{};
        taken.received_ns = perf_test_now_ns();
        message::read(request, overhead_bytes_, taken);
        static_assert(sizeof id->writer_guid == sizeof taken.source);
        std::memcpy(taken.source, id->writer_guid, sizeof taken.source);
        in_hand_ = id;
        perf_test_responder_request(requests, &taken);
    }

    std::shared_ptr<rclcpp::Service<T>> service_;
    std::uint64_t overhead_bytes_;
    typename T::Response response_;
    Id in_hand_;
};

template <class T> ServiceType service_type(const char *message) {
    return {
        message,
        [](const Plan &plan) -> std::shared_ptr<ServiceEnds> { return std::make_shared<TypedClient<T>>(plan); },
        [](const Plan &plan) -> std::shared_ptr<ServiceEnds> { return std::make_shared<TypedServer<T>>(plan); },
    };
}
