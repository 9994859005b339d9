// A camera that publishes images of 6 MB at 30 Hz. They are written in shared memory and never copied. Usage: camera
// [IMAGES].
#include <gantry.hpp>
#include <gantry_msgs/sensor_msgs/msg/image.hpp>

#include <algorithm>

using gantry_msgs::sensor_msgs::msg::Image;

int main(int argc, char **argv) {
    gantry::init(argc, argv).value();
    int left = argc > 1 ? std::atoi(argv[1]) : -1;
    const auto node = gantry::Node::create("camera").value();
    auto publisher = node.create_publisher<Image>("image", gantry::SensorDataQoS()).value();
    auto executor = gantry::SingleThreadedExecutor::create(node).value();

    constexpr std::uint32_t width = 1920, height = 1080, channels = 3;
    Image::Shape shape;
    shape.header.frame_id = "camera";
    shape.encoding = "rgb8";
    shape.data = std::size_t{width} * height * channels;
    std::uint8_t frame = 0;
    const auto timer = node.create_timer(std::chrono::milliseconds(33), [&] {
        auto image = publisher.loan(shape).value();
        const auto now_ns = node.now().count();
        image->header().stamp().sec = static_cast<std::int32_t>(now_ns / 1000000000);
        image->header().stamp().nanosec = static_cast<std::uint32_t>(now_ns % 1000000000);
        image->set_width(width);
        image->set_height(height);
        image->set_step(width * channels);
        const auto pixels = image->data();  // a real driver writes the pixels here
        std::fill(pixels.begin(), pixels.end(), frame++);
        publisher.publish(std::move(image)).value();
        if (--left == 0) executor.cancel();
    }).value();
    executor.spin().value();
    return 0;
}
