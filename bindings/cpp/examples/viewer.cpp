// A viewer that reads each image in the camera's memory. Usage: viewer [IMAGES].
#include <gantry.hpp>
#include <gantry_msgs/sensor_msgs/msg/image.hpp>

#include <cstdio>

using gantry_msgs::sensor_msgs::msg::Image;

int main(int argc, char **argv) {
    gantry::init(argc, argv).value();
    int left = argc > 1 ? std::atoi(argv[1]) : -1;
    const auto node = gantry::Node::create("viewer").value();
    auto images = node.create_subscription<Image>("image", gantry::SensorDataQoS()).value();
    while (left != 0 && gantry::ok()) {
        if (!images.wait(gantry::forever).value()) continue;  // the program shuts down
        while (const auto image = images.take().value()) {
            const auto &view = **image;
            const auto pixels = view.data();
            std::printf("%u x %u %.*s, the first pixel is %u, the last one %u\n", view.width(), view.height(),
                        static_cast<int>(view.encoding().size()), view.encoding().data(), unsigned{pixels.front()},
                        unsigned{pixels.back()});
            if (--left == 0) break;
        }
    }
    return 0;
}
