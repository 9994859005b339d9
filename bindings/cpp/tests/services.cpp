// Tests of services: calls, requests that are answered later, servers that end.
#include "check.hpp"

#include <gantry.hpp>
#include <gantry_msgs/example_interfaces/srv/add_two_ints.hpp>
#include <gantry_msgs/std_srvs/srv/set_bool.hpp>

#include <poll.h>
#include <thread>

using namespace gantry_msgs;
using example_interfaces::srv::AddTwoInts;
using std_srvs::srv::SetBool;

static void plain_messages() {
    auto node = ok(gantry::Node::create("adder"));
    auto service = ok(node.create_service<AddTwoInts>("add_two_ints"));
    auto client = ok(node.create_client<AddTwoInts>("add_two_ints"));
    CHECK(ok(client.wait_for_service(PATIENCE)) && ok(client.service_is_ready()));
    std::thread server([&service] {
        CHECK(ok(service.wait(PATIENCE)));
        const auto request = ok(service.take_request());
        auto response = ok(service.loan_response(request->id()));
        response->sum = (*request)->a + (*request)->b;
        ok(service.send_response(request->id(), std::move(response)));
    });
    auto request = ok(client.loan_request());
    request->a = 2;
    request->b = 40;
    const auto response = ok(client.call(std::move(request), PATIENCE));
    CHECK(response->sum == 42);
    server.join();
}

static void any_length() {
    auto node = ok(gantry::Node::create("switch"));
    std::optional<gantry::Service<SetBool>> service = ok(node.create_service<SetBool>("switch"));
    auto client = ok(node.create_client<SetBool>("switch"));
    CHECK(ok(client.wait_for_service(PATIENCE)));
    auto request = ok(client.loan_request());
    request->set_data(true);
    const gantry_request_id sent = ok(client.send_request(std::move(request)));
    CHECK(ok(service->wait(PATIENCE)));
    const auto taken = ok(service->take_request());
    CHECK((*taken)->data() && taken->id().sequence == sent.sequence);
    SetBool::Response::Shape shape;
    shape.message = "done";
    ok(service->respond(taken->id(), shape, [](auto &response) { response.set_success(true); }));
    CHECK(ok(client.wait(PATIENCE)));
    const auto response = ok(client.take_response());
    CHECK((*response)->success() && (*response)->message() == "done" && response->id().sequence == sent.sequence);
    CHECK(!ok(client.take_response()).has_value());

    ok(client.send_request(ok(client.loan_request())));
    service.reset();
    CHECK(ok(client.wait(PATIENCE)));
    const auto gone = client.take_response();
    CHECK(!gone.has_value() && gone.error().status == GANTRY_SERVER_GONE);
}

// Returns whether a descriptor is readable before the timeout. 0 does not wait.
static bool is_readable(int fd, std::chrono::milliseconds timeout) {
    pollfd waiting = {fd, POLLIN, 0};
    return poll(&waiting, 1, static_cast<int>(timeout.count())) == 1;
}

static void descriptors() {
    auto node = ok(gantry::Node::create("polling"));
    auto service = ok(node.create_service<SetBool>("polled"));
    auto client = ok(node.create_client<SetBool>("polled"));
    CHECK(ok(client.wait_for_service(PATIENCE)));
    const int requests = ok(service.fd()), responses = ok(client.fd());
    CHECK(!is_readable(requests, {}) && !is_readable(responses, {}));
    ok(client.send_request(ok(client.loan_request())));
    CHECK(is_readable(requests, PATIENCE) && !is_readable(responses, {}));
    const auto request = ok(service.take_request());
    ok(service.respond(request->id(), {}, [](auto &) {}));
    CHECK(is_readable(responses, PATIENCE) && ok(client.take_response()).has_value());

    auto guard = ok(gantry::GuardCondition::create());
    const int triggered = ok(guard.fd());
    CHECK(!is_readable(triggered, {}));
    guard.trigger();
    CHECK(is_readable(triggered, PATIENCE) && guard.take() && !is_readable(triggered, {}));
}

static void another_type() {
    auto node = ok(gantry::Node::create("mismatched"));
    auto service = ok(node.create_service<SetBool>("of_two_types"));
    auto client = ok(node.create_client<AddTwoInts>("of_two_types"));
    const auto of_client = ok(client.mismatches()), of_service = ok(service.mismatches());
    CHECK(of_client.size() == 1 && of_client[0].find("std_srvs/srv/SetBool") != std::string::npos);
    CHECK(of_service.size() == 1 && of_service[0].find("example_interfaces/srv/AddTwoInts") != std::string::npos);
}

int main() {
    plain_messages();
    any_length();
    descriptors();
    another_type();
    return 0;
}
