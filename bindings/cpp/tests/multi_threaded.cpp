// Tests of the executor with several threads: callbacks of different groups overlap, callbacks of one group do not.
#include "check.hpp"

#include <gantry.hpp>
#include <gantry_msgs/std_msgs/msg/string.hpp>
#include <gantry_msgs/std_srvs/srv/trigger.hpp>

#include <atomic>

using gantry_msgs::std_msgs::msg::String;
using gantry_msgs::std_srvs::srv::Trigger;

// Two callbacks, each of which waits until the other one is running as well.
static void callbacks_run_beside_each_other(const gantry::Node &node, gantry::CallbackGroupType type) {
    auto executor = ok(gantry::MultiThreadedExecutor::create(node, 3));
    CHECK(executor->get_number_of_threads() == 3);
    std::atomic<int> inside{0}, meetings{0};
    const auto meet = [&] {
        if (meetings > 0) return;
        inside++;
        const auto end = std::chrono::steady_clock::now() + PATIENCE;
        while (inside < 2 && std::chrono::steady_clock::now() < end) std::this_thread::yield();
        CHECK(inside == 2);
        if (++meetings == 2) executor->cancel();
    };
    // With Reentrant, both callbacks are in one group. With MutuallyExclusive, each has its own group.
    const auto group = gantry::Node::create_callback_group(type);
    const auto second = type == gantry::CallbackGroupType::Reentrant ? group : gantry::Node::create_callback_group(type);
    auto one = ok(node.create_timer(std::chrono::milliseconds(1), meet, group));
    auto other = ok(node.create_timer(std::chrono::milliseconds(1), meet, second));
    ok(executor->spin());
    CHECK(meetings >= 2);
}

// Messages arrive in order and only once, and no two callbacks of the group overlap.
static void one_group_runs_one_at_a_time(const gantry::Node &node) {
    constexpr int MESSAGES = 2000;
    auto executor = ok(gantry::MultiThreadedExecutor::create(node, 4));
    std::atomic<int> inside{0};
    int received = 0, ticks = 0;
    auto subscription = ok(node.create_subscription<String>("numbers", gantry::QoS().keep_all(), [&](gantry::Sample<String> text) {
        CHECK(inside.fetch_add(1) == 0);
        CHECK(text->data() == std::to_string(received));
        inside--;
        if (++received == MESSAGES) executor->cancel();
    }));
    auto timer = ok(node.create_timer(std::chrono::microseconds(100), [&] {
        CHECK(inside.fetch_add(1) == 0);
        ticks++;
        inside--;
    }));
    auto publisher = ok(node.create_publisher<String>("numbers", gantry::QoS().keep_all()));
    std::thread publishing([&] {
        for (int i = 0; i < MESSAGES; i++) {
            const std::string number = std::to_string(i);
            String::Shape shape;
            shape.data = number;
            while (!publisher.publish(shape, [](auto &) {})) std::this_thread::yield();
        }
    });
    ok(executor->spin());
    publishing.join();
    CHECK(received == MESSAGES && ticks > 0);
}

// A callback calls a service of its own executor. With only one thread, it would never be answered.
static void a_callback_waits_for_another_one(const gantry::Node &node) {
    auto executor = ok(gantry::MultiThreadedExecutor::create(node, 2));
    const auto group = gantry::Node::create_callback_group(gantry::CallbackGroupType::MutuallyExclusive);
    auto service = ok(node.create_service<Trigger>(
        "answer",
        [](const gantry::Request<Trigger> &request, gantry::Service<Trigger> &server) {
            ok(server.respond(request.id(), {}, [](auto &response) { response.set_success(true); }));
        },
        {}, group));
    auto client = ok(node.create_client<Trigger>("answer"));
    auto timer = ok(node.create_timer(std::chrono::milliseconds(1), [&] {
        CHECK(ok(client.wait_for_service(PATIENCE)));
        CHECK(ok(client.call(ok(client.loan_request()), PATIENCE))->success());
        executor->cancel();
    }));
    ok(executor->spin());
}

// A second executor that spins with the same node or group gets an error and runs nothing.
static void one_executor_runs_a_node_and_a_group(const gantry::Node &node) {
    auto executor = ok(gantry::MultiThreadedExecutor::create(node, 2));
    executor->add_node(node);  // has no effect: the executor has the node
    const auto group = gantry::Node::create_callback_group(gantry::CallbackGroupType::MutuallyExclusive);
    std::atomic<bool> runs{false};
    auto timer = ok(node.create_timer(std::chrono::milliseconds(1), [&] { runs = true; }, group));
    std::thread spinning([&] { ok(executor->spin()); });
    const auto end = std::chrono::steady_clock::now() + PATIENCE;
    while (!runs && std::chrono::steady_clock::now() < end) std::this_thread::yield();
    CHECK(runs && !ok(gantry::MultiThreadedExecutor::create(node, 2))->spin() && !gantry::spin_some(node));
    auto stranger = ok(gantry::Node::create("stranger"));
    auto other = ok(stranger.create_timer(std::chrono::milliseconds(1), [] { CHECK(false); }, group));
    CHECK(!ok(gantry::MultiThreadedExecutor::create(stranger, 1))->spin());
    executor->cancel();
    spinning.join();
    other.reset();
    ok(gantry::spin_some(node));
}

int main() {
    auto node = ok(gantry::Node::create("threads"));
    callbacks_run_beside_each_other(node, gantry::CallbackGroupType::Reentrant);
    callbacks_run_beside_each_other(node, gantry::CallbackGroupType::MutuallyExclusive);
    one_executor_runs_a_node_and_a_group(node);
    one_group_runs_one_at_a_time(node);
    a_callback_waits_for_another_one(node);
    // A callback that is added during a spin runs; here it shuts down, which ends the spin.
    auto executor = ok(gantry::MultiThreadedExecutor::create(node, 2));
    std::thread spinning([&] { ok(executor->spin()); });
    auto timer = ok(node.create_timer(std::chrono::milliseconds(1), [] { gantry::shutdown(); }));
    spinning.join();
    CHECK(!gantry::ok());
    return 0;
}
