#include "service.hpp"

#include <stdexcept>
#include <utility>
#include <vector>

#include "guarded.hpp"

namespace {

std::vector<ServiceType> &service_types() {
    static std::vector<ServiceType> types;
    return types;
}

// Throws if this program does not have the service type.
const ServiceType &find_service_type(const std::string &message) {
    std::string known;
    for (const ServiceType &type : service_types()) {
        if (message == type.message) {
            return type;
        }
        known += (known.empty() ? "" : ", ") + std::string(type.message);
    }
    throw std::invalid_argument("a service needs a definition (.srv), and there is none with the message " + message +
                                " both ways: use one with " + known);
}

class ServiceSender : public Sender {
public:
    explicit ServiceSender(std::shared_ptr<ServiceEnds> ends) : ends_(std::move(ends)) {}
    void publish(perf_test_draft *draft, perf_test_sent *) override { ends_->send(draft); }
    std::size_t matched() override { return ends_->matched(); }
    bool source(std::uint8_t *) override { return false; }

private:
    std::shared_ptr<ServiceEnds> ends_;
};

class ServiceReceiver : public Receiver {
public:
    explicit ServiceReceiver(std::shared_ptr<ServiceEnds> ends) : ends_(std::move(ends)) {}
    std::size_t matched() override { return ends_->matched(); }
    ServiceEnds &ends() { return *ends_; }

private:
    std::shared_ptr<ServiceEnds> ends_;
};

ServiceEnds &ends_of(void *receiver) {
    return static_cast<ServiceReceiver *>(static_cast<Receiver *>(receiver))->ends();
}

template <class Create>
int create_ends(const perf_test_run *run, const perf_test_endpoint *plan, perf_test_service_end *end,
                perf_test_error *error, const char *what, Create create) {
    return guarded(error, -1, what, [&] {
        const std::shared_ptr<ServiceEnds> ends = create(find_service_type(plan->message.type_name), Plan{*run, *plan});
        auto sender = std::make_unique<ServiceSender>(ends);
        end->subscription = static_cast<Receiver *>(new ServiceReceiver(ends));
        end->publisher = static_cast<Sender *>(sender.release());
        return 0;
    });
}

} // namespace

ServiceEnds::ServiceEnds(const Plan &plan)
    : node(shared_node(plan.run, plan.endpoint.node)), type(plan.endpoint.message) {}

bool add_service_types(std::initializer_list<ServiceType> types) {
    service_types().insert(service_types().end(), types);
    return true;
}

int create_client(void *, const perf_test_run *run, const perf_test_endpoint *plan, perf_test_service_end *client,
                  perf_test_error *error) {
    return create_ends(run, plan, client, error, "create a client",
                       [](const ServiceType &type, const Plan &of) { return type.client(of); });
}

int create_server(void *, const perf_test_run *run, const perf_test_endpoint *plan, perf_test_service_end *server,
                  perf_test_error *error) {
    return create_ends(run, plan, server, error, "create a server",
                       [](const ServiceType &type, const Plan &of) { return type.server(of); });
}

rclcpp::Node::SharedPtr start_client(void *receiver, perf_test_sink *responses) {
    ServiceEnds &ends = ends_of(receiver);
    ends.responses = responses;
    return ends.node;
}

rclcpp::Node::SharedPtr start_server(void *receiver, perf_test_responder *requests) {
    ServiceEnds &ends = ends_of(receiver);
    ends.requests = requests;
    return ends.node;
}
