// Tests of services: calls, requests that are answered later, servers that end.
#include "check.hpp"

#include <gantry.hpp>
#include <gantry_msgs/example_interfaces/srv/add_two_ints.hpp>
#include <gantry_msgs/std_srvs/srv/set_bool.hpp>

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

int main() {
    plain_messages();
    any_length();
    return 0;
}
