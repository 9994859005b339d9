// Measures the latency of messages in shared memory through an executor of rclcpp: latency pub|sub BYTES COUNT RATE.
//
// The subscription prints one line of JSON. A latency is the time from before the publication of a loan to the
// beginning of the callback. The first ten messages are warm-up and do not count.
#include <gantry_msgs/sensor_msgs/msg/image.hpp>
#include <gantry_rclcpp/gantry_rclcpp.hpp>

#include <sensor_msgs/msg/image.hpp>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <vector>

using sensor_msgs::msg::Image;
using Sample = gantry::Sample<gantry_msgs::sensor_msgs::msg::Image>;

static std::int64_t now_ns() {
    timespec time = {};
    clock_gettime(CLOCK_MONOTONIC, &time);
    return std::int64_t{time.tv_sec} * 1000000000 + time.tv_nsec;
}

static void sleep_until(std::int64_t due_ns) {
    const timespec due = {static_cast<std::time_t>(due_ns / 1000000000), static_cast<long>(due_ns % 1000000000)};
    while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &due, nullptr) != 0) {
    }
}

static void publish(const rclcpp::Node::SharedPtr &node, std::size_t bytes, std::size_t count, double rate) {
    auto images = gantry::create_publisher<Image>(node, "latency", rclcpp::QoS(10).reliable());
    while (rclcpp::ok() && images->endpoint()->get_subscription_count() == 0) sleep_until(now_ns() + 1000000);
    gantry::InPlacePublisher<Image>::Shape shape;
    shape.data = bytes;
    std::int64_t due_ns = now_ns();
    for (std::size_t i = 0; i < count && rclcpp::ok(); i++) {
        due_ns += static_cast<std::int64_t>(1e9 / rate);
        auto image = images->loan(shape).value();
        image->data()[0] = 7;
        image->set_height(static_cast<std::uint32_t>(i));
        sleep_until(due_ns);
        const std::int64_t time_ns = now_ns();
        image->header().stamp().sec = static_cast<std::int32_t>(time_ns / 1000000000);
        image->header().stamp().nanosec = static_cast<std::uint32_t>(time_ns % 1000000000);
        images->publish(std::move(image)).value();
    }
    sleep_until(now_ns() + 300000000);  // the last message must be taken before its memory is removed
}

static void subscribe(const rclcpp::Node::SharedPtr &node, std::size_t bytes, std::size_t count) {
    constexpr std::size_t warm_up = 10;
    std::vector<double> latencies_us;
    latencies_us.reserve(count);
    std::size_t received = 0;
    bool is_last = false;
    std::int64_t quiet_since_ns = now_ns();
    auto images = gantry::create_subscription<Image>(node, "latency", rclcpp::QoS(10).reliable(), [&](const Sample &image) {
        const std::int64_t arrived_ns = quiet_since_ns = now_ns();
        const auto &stamp = image->header().stamp();
        const std::int64_t sent_ns = std::int64_t{stamp.sec} * 1000000000 + stamp.nanosec;
        if (received++ >= warm_up) latencies_us.push_back(static_cast<double>(arrived_ns - sent_ns) / 1000.0);
        is_last = image->height() + 1 == count;
    });
    rclcpp::executors::SingleThreadedExecutor executor;
    executor.add_node(node);
    // The last message may be lost, so a stream without messages for ten seconds also counts as ended.
    while (rclcpp::ok() && !is_last && (received == 0 || now_ns() - quiet_since_ns < 10000000000))
        executor.spin_once(std::chrono::seconds(1));
    std::sort(latencies_us.begin(), latencies_us.end());
    const auto quantile = [&](double part) {
        return latencies_us[static_cast<std::size_t>(part * static_cast<double>(latencies_us.size() - 1))];
    };
    if (latencies_us.empty()) return;
    std::printf("{\"bytes\": %zu, \"received\": %zu, \"n\": %zu, \"min_us\": %.2f, \"p50_us\": %.2f, \"p99_us\": %.2f, \"max_us\": %.2f}\n",
                bytes, received, latencies_us.size(), quantile(0), quantile(0.5), quantile(0.99), quantile(1));
}

int main(int argc, char **argv) {
    rclcpp::init(argc, argv);
    if (argc < 5) {
        std::fprintf(stderr, "latency pub|sub BYTES COUNT RATE\n");
        return 2;
    }
    const std::string role = argv[1];
    const auto bytes = std::strtoul(argv[2], nullptr, 10), count = std::strtoul(argv[3], nullptr, 10);
    auto node = std::make_shared<rclcpp::Node>("latency_" + role);
    role == "pub" ? publish(node, bytes, count, std::atof(argv[4])) : subscribe(node, bytes, count);
    rclcpp::shutdown();
    return 0;
}
