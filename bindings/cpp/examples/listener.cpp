// A listener like the one in ROS 2's demos. Usage: listener [MESSAGES].
#include <gantry.hpp>
#include <gantry_msgs/std_msgs/msg/string.hpp>

#include <cstdio>

using gantry_msgs::std_msgs::msg::String;

int main(int argc, char **argv) {
    gantry::init(argc, argv).value();
    int left = argc > 1 ? std::atoi(argv[1]) : -1;
    const auto node = gantry::Node::create("listener").value();
    auto executor = gantry::SingleThreadedExecutor::create(node).value();
    const auto subscription = node.create_subscription<String>(
        "chatter", 10, [&](const gantry::Sample<String> &message) {
            const std::string_view text = message->data();  // in the talker's memory
            std::printf("I heard: [%.*s]\n", static_cast<int>(text.size()), text.data());
            if (--left == 0) executor.cancel();
        }).value();
    executor.spin().value();
    return 0;
}
