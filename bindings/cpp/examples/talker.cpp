// A talker like the one in ROS 2's demos. Usage: talker [MESSAGES].
#include <gantry.hpp>
#include <gantry_msgs/std_msgs/msg/string.hpp>

#include <cstdio>

using gantry_msgs::std_msgs::msg::String;

int main(int argc, char **argv) {
    gantry::init(argc, argv).value();
    int left = argc > 1 ? std::atoi(argv[1]) : -1;
    const auto node = gantry::Node::create("talker").value();
    auto publisher = node.create_publisher<String>("chatter", gantry::QoS(10)).value();
    auto executor = gantry::SingleThreadedExecutor::create(node).value();
    std::uint64_t count = 0;
    const auto timer = node.create_timer(std::chrono::milliseconds(100), [&] {
        const std::string text = "Hello World: " + std::to_string(++count);
        String::Shape shape;
        shape.data = text;
        publisher.publish(publisher.loan(shape).value()).value();
        std::printf("Publishing: '%s'\n", text.c_str());
        if (--left == 0) executor.cancel();
    }).value();
    executor.spin().value();
    return 0;
}
