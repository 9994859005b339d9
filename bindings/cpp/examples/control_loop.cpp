// A control loop at 1 kHz: a simulated joint and its controller, each on a thread. Usage: control_loop [CYCLES].
//
// Between a measurement and its command, neither of these two threads allocates, takes a lock or makes a system call,
// except for the sleep until the next measurement. For this, both publishers are asynchronous: a thread of the library
// wakes the sleeping reader. All work that can fail or take time is done before the loop.
//
// On a robot, add `chrt --fifo 80`, a CPU for each thread, and locked memory (mlockall).
#include <gantry.hpp>
#include <gantry_msgs/example_robot/msg/joint_command.hpp>
#include <gantry_msgs/example_robot/msg/joint_measurement.hpp>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <functional>
#include <thread>
#include <utility>
#include <vector>

using gantry_msgs::example_robot::msg::JointCommand;
using gantry_msgs::example_robot::msg::JointMeasurement;

static constexpr std::int64_t period_ns = 1000000;

static std::int64_t now_ns() {
    timespec time = {};
    clock_gettime(CLOCK_MONOTONIC, &time);
    return std::int64_t{time.tv_sec} * 1000000000 + time.tv_nsec;
}

static void sleep_until(std::int64_t due_ns) {
    const timespec due = {static_cast<std::time_t>(due_ns / 1000000000), static_cast<long>(due_ns % 1000000000)};
    while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &due, nullptr) != 0) {  // a signal ends the sleep early
    }
}

// Answers each measurement with a command: a spring and a damper.
static void control(gantry::Subscription<JointMeasurement> measurements, gantry::Publisher<JointCommand> &commands,
                    std::uint64_t cycles) {
    while (measurements.wait(std::chrono::seconds(1)).value()) {
        while (const auto measured = measurements.take().value()) {
            const JointMeasurement &joint = **measured;
            auto command = commands.loan().value();
            *command = {joint.cycle, joint.measured_ns, -40 * joint.position_rad - 4 * joint.velocity_rad_s};
            commands.publish(std::move(command)).value();
            if (joint.cycle == cycles) return;
        }
    }
}

// A simulated joint, which moves by the newest command.
struct Joint {
    gantry::Publisher<JointMeasurement> measurements;
    gantry::Subscription<JointCommand> commands;
    double position_rad = 1, velocity_rad_s = 0, torque_nm = 0;
    std::vector<std::int64_t> latencies_ns = {};  // the time from each measurement to its command

    void run(std::uint64_t cycles) {
        latencies_ns.reserve(cycles);
        const std::int64_t start_ns = now_ns();
        for (std::uint64_t cycle = 1; cycle <= cycles && gantry::ok(); cycle++) {
            const std::int64_t due_ns = start_ns + static_cast<std::int64_t>(cycle) * period_ns;
            sleep_until(due_ns);
            measure(cycle);
            while (now_ns() < due_ns + period_ns / 2 && !obey(cycle)) {  // without a command, the last one stays
            }
        }
    }

private:
    void measure(std::uint64_t cycle) {
        constexpr double inertia_kg_m2 = 0.1, period_s = period_ns / 1e9;
        velocity_rad_s += torque_nm / inertia_kg_m2 * period_s;
        position_rad += velocity_rad_s * period_s;
        auto measured = measurements.loan().value();
        *measured = {cycle, now_ns(), position_rad, velocity_rad_s};
        measurements.publish(std::move(measured)).value();
    }
    // Takes commands. Returns whether one of them is for this cycle.
    bool obey(std::uint64_t cycle) {
        bool is_answered = false;
        while (const auto command = commands.take().value()) {
            torque_nm = (*command)->torque_nm;
            if (latencies_ns.size() < latencies_ns.capacity())
                latencies_ns.push_back(now_ns() - (*command)->measured_ns);
            is_answered |= (*command)->cycle == cycle;
        }
        return is_answered;
    }
};

int main(int argc, char **argv) {
    gantry::init(argc, argv).value();
    const std::uint64_t cycles = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 5000;
    const auto node = gantry::Node::create("control_loop").value();
    gantry_publisher_options options = {};
    options.struct_size = sizeof options;
    options.async_period_ns = 50000;
    const gantry::QoS qos(4);
    auto commands = node.create_publisher<JointCommand>("joint_command", qos, &options).value();
    auto measured = node.create_subscription<JointMeasurement>("joint_measurement", qos).value();
    Joint joint{node.create_publisher<JointMeasurement>("joint_measurement", qos, &options).value(),
                node.create_subscription<JointCommand>("joint_command", qos).value()};
    joint.measurements.wait_for_subscriptions(1, std::chrono::seconds(1)).value();
    commands.wait_for_subscriptions(1, std::chrono::seconds(1)).value();

    std::thread controller(control, std::move(measured), std::ref(commands), cycles);
    joint.run(cycles);
    controller.join();

    auto &latencies_ns = joint.latencies_ns;
    if (latencies_ns.empty()) return 1;
    std::sort(latencies_ns.begin(), latencies_ns.end());
    const auto us = [&](std::size_t percent) {
        return static_cast<double>(latencies_ns[(latencies_ns.size() - 1) * percent / 100]) / 1000;
    };
    std::printf("%zu of %zu measurements have a command, after %.1f us (p50), %.1f us (p99)\n", latencies_ns.size(),
                static_cast<std::size_t>(cycles), us(50), us(99));
    std::printf("the joint is at %.3f rad\n", joint.position_rad);
    return 0;
}
