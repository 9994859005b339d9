// A node of rclcpp that reads images in the camera's memory. Usage: viewer_node [COUNT] [--ros-args …].
#include <gantry_msgs/sensor_msgs/msg/image.hpp>
#include <gantry_rclcpp/gantry_rclcpp.hpp>

#include <sensor_msgs/msg/image.hpp>

#include <cstdio>
#include <cstdlib>

int main(int argc, char **argv) {
    const auto arguments = rclcpp::init_and_remove_ros_arguments(argc, argv);
    int left = arguments.size() > 1 ? std::atoi(arguments[1].c_str()) : -1;
    auto node = std::make_shared<rclcpp::Node>("viewer");
    auto images = gantry::create_subscription<sensor_msgs::msg::Image>(
        node, "image", rclcpp::SensorDataQoS(), [&](gantry::Sample<gantry_msgs::sensor_msgs::msg::Image> image) {
            if (image->data().empty()) return;
            std::printf("%u x %u %s, the first pixel is %u\n", image->width(), image->height(),
                        std::string(image->encoding()).c_str(), unsigned{image->data().front()});
            if (--left == 0) rclcpp::shutdown();
        });
    rclcpp::spin(node);
    return 0;
}
