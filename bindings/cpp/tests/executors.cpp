// Tests of executors: callbacks of topics, timers and services, callbacks added during a spin, and cancel.
#include "check.hpp"

#include <gantry.hpp>
#include <gantry_msgs/std_msgs/msg/string.hpp>
#include <gantry_msgs/std_srvs/srv/trigger.hpp>

#include <thread>

using gantry_msgs::std_msgs::msg::String;
using gantry_msgs::std_srvs::srv::Trigger;

int main() {
    auto node = ok(gantry::Node::create("spinner"));
    auto executor = ok(gantry::SingleThreadedExecutor::create(node));
    auto publisher = ok(node.create_publisher<String>("words"));
    int ticks = 0;
    std::vector<std::string> words;
    auto timer = ok(node.create_timer(std::chrono::milliseconds(1), [&] {
        String::Shape shape;
        shape.data = "word";
        if (++ticks <= 3) ok(publisher.publish(shape, [](auto &) {}));
    }));
    auto subscription = ok(node.create_subscription<String>("words", 10, [&](gantry::Sample<String> word) {
        words.emplace_back(word->data());
        if (words.size() == 3) executor.cancel();
    }));
    ok(executor.spin());
    CHECK(words == std::vector<std::string>(3, "word") && ticks >= 3);

    // A dropped subscription and a cancelled timer have no callbacks any more.
    timer->cancel();
    subscription.reset();
    String::Shape shape;
    ok(publisher.publish(shape, [](auto &) {}));
    ok(executor.spin_some());
    CHECK(words.size() == 3);

    // A service may be added while the executor waits.
    auto client = ok(node.create_client<Trigger>("trigger"));
    std::thread spinning([&executor] { ok(executor.spin()); });
    auto service = ok(node.create_service<Trigger>(
        "trigger", [](const gantry::Request<Trigger> &request, gantry::Service<Trigger> &server) {
            Trigger::Response::Shape answer;
            answer.message = "triggered";
            ok(server.respond(request.id(), answer, [](auto &response) { response.set_success(true); }));
        }));
    CHECK(ok(client.wait_for_service(PATIENCE)));
    const auto response = ok(client.call(ok(client.loan_request()), PATIENCE));
    CHECK(response->success() && response->message() == "triggered");
    executor.cancel();
    spinning.join();

    // A shutdown first calls the functions of on_shutdown, then ends a spin.
    bool was_called = false;
    ok(gantry::on_shutdown([&] { was_called = true; }));
    CHECK(gantry::shutdown() && was_called && !gantry::ok());
    ok(gantry::spin(node));
    return 0;
}
