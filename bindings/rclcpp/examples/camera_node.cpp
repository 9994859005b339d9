// A camera in a node of rclcpp that writes its images into shared memory. Usage: camera_node [--ros-args …].
#include <gantry_msgs/sensor_msgs/msg/image.hpp>
#include <gantry_rclcpp/gantry_rclcpp.hpp>

#include <sensor_msgs/msg/image.hpp>

#include <chrono>
#include <cstring>

using sensor_msgs::msg::Image;

class Camera : public rclcpp::Node {
public:
    Camera() : Node("camera") {
        images_ = gantry::create_publisher<Image>(*this, "image", rclcpp::SensorDataQoS());
        timer_ = create_wall_timer(std::chrono::milliseconds(33), [this] { take_a_picture(); });
    }

private:
    void take_a_picture() {
        gantry::InPlacePublisher<Image>::Shape shape;
        shape.header.frame_id = "camera";
        shape.encoding = "rgb8";
        shape.data = 1920 * 1080 * 3;
        auto image = images_->loan(shape).value();
        const rclcpp::Time now = get_clock()->now();
        image->header().stamp().sec = static_cast<std::int32_t>(now.nanoseconds() / 1000000000);
        image->header().stamp().nanosec = static_cast<std::uint32_t>(now.nanoseconds() % 1000000000);
        image->set_width(1920);
        image->set_height(1080);
        image->set_step(1920 * 3);
        // In a real driver, the camera writes the image here.
        std::memset(image->data().data(), count_++, image->data().size());
        images_->publish(std::move(image)).value();
    }

    gantry::InPlacePublisher<Image>::SharedPtr images_;
    rclcpp::TimerBase::SharedPtr timer_;
    std::uint8_t count_ = 0;
};

int main(int argc, char **argv) {
    rclcpp::init(argc, argv);
    rclcpp::spin(std::make_shared<Camera>());
    rclcpp::shutdown();
    return 0;
}
