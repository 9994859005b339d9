// A publisher or a subscription of sensor_msgs/PointCloud2: `points pub|sub BYTES HZ SECONDS`. Prints figures as JSON.
#include <sys/resource.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

#include "rclcpp/rclcpp.hpp"
#include "sensor_msgs/msg/point_cloud2.hpp"

using sensor_msgs::msg::PointCloud2;
using namespace std::chrono_literals;

static int64_t now() {
    return std::chrono::nanoseconds(std::chrono::steady_clock::now().time_since_epoch()).count();
}

static int64_t cpu() {
    rusage use;
    getrusage(RUSAGE_SELF, &use);
    auto ns = [](timeval t) { return t.tv_sec * 1000000000LL + t.tv_usec * 1000LL; };
    return ns(use.ru_utime) + ns(use.ru_stime);
}

static PointCloud2 cloud(size_t bytes) {
    PointCloud2 message;
    message.header.frame_id = "lidar";
    message.height = 1;
    message.width = bytes / 16;
    const char *names[] = {"x", "y", "z", "intensity"};
    for (int i = 0; i < 4; i++) {
        sensor_msgs::msg::PointField field;
        field.name = names[i];
        field.offset = 4 * i;
        field.datatype = sensor_msgs::msg::PointField::FLOAT32;
        field.count = 1;
        message.fields.push_back(field);
    }
    message.point_step = 16;
    message.row_step = message.width * 16;
    message.data.resize(message.row_step);
    for (size_t i = 0; i < message.data.size(); i++) message.data[i] = i * 31;
    message.is_dense = true;
    return message;
}

// The number of the message is in the first eight bytes of the data, the time of sending in the header.
static int publish(rclcpp::Node::SharedPtr node, size_t bytes, int rate, int seconds) {
    auto publisher = node->create_publisher<PointCloud2>("points", rclcpp::QoS(rclcpp::KeepLast(16)).reliable());
    PointCloud2 message = cloud(bytes);
    auto start = std::chrono::steady_clock::now(), next = start;
    int64_t measured_from = 0, cpu_from = 0;
    uint64_t id = 0, sent = 0;
    while (rclcpp::ok() && next < start + std::chrono::seconds(seconds)) {
        if (!measured_from && next >= start + 1500ms) {
            measured_from = now();
            cpu_from = cpu();
        }
        ++id;
        memcpy(message.data.data(), &id, sizeof id);
        int64_t time = now();
        message.header.stamp.sec = time / 1000000000;
        message.header.stamp.nanosec = time % 1000000000;
        publisher->publish(message);
        if (measured_from) ++sent;
        next += std::chrono::nanoseconds(1000000000 / rate);
        std::this_thread::sleep_until(next);
    }
    printf("{\"sent\": %lu, \"seconds\": %f, \"cpu_ns\": %ld}\n", sent, (now() - measured_from) / 1e9, cpu() - cpu_from);
    return 0;
}

// The first second after the first message is not measured.
static int subscribe(rclcpp::Node::SharedPtr node, size_t bytes, int seconds) {
    std::vector<int64_t> latencies;
    uint64_t last = 0, lost = 0, wrong = 0;
    int64_t first_time = 0, cpu_from = 0, cpu_to = 0;
    auto subscription = node->create_subscription<PointCloud2>(
        "points", rclcpp::QoS(rclcpp::KeepLast(16)).reliable(), [&](PointCloud2::ConstSharedPtr message) {
            int64_t time = now();
            uint64_t id;
            if (message->data.size() != bytes / 16 * 16 || message->fields.size() != 4) { wrong++; return; }
            memcpy(&id, message->data.data(), sizeof id);
            size_t end = message->data.size() - 1;
            if (message->data[end] != static_cast<uint8_t>(end * 31) || message->header.frame_id != "lidar") wrong++;
            if (!first_time) first_time = time;
            if (time < first_time + 1000000000) { last = id; return; }
            if (!cpu_from) { cpu_from = cpu(); last = id; return; }
            lost += id - last - 1;
            last = id;
            latencies.push_back(time - message->header.stamp.sec * 1000000000LL - message->header.stamp.nanosec);
            cpu_to = cpu();
        });
    rclcpp::executors::SingleThreadedExecutor executor;
    executor.add_node(node);
    int64_t end = now() + seconds * 1000000000LL;
    while (rclcpp::ok() && now() < end) executor.spin_once(100ms);
    double sum = 0;
    for (auto latency : latencies) sum += latency;
    std::sort(latencies.begin(), latencies.end());
    size_t n = latencies.size();
    auto at = [&](double q) { return n ? latencies[std::min(n - 1, static_cast<size_t>(q * n))] / 1e3 : 0; };
    printf("{\"received\": %zu, \"lost\": %lu, \"wrong\": %lu, \"mean_us\": %f, \"min_us\": %f, \"p50_us\": %f, \"p99_us\": %f, "
           "\"max_us\": %f, \"cpu_ns\": %ld}\n",
           n, lost, wrong, n ? sum / n / 1e3 : 0, at(0), at(0.5), at(0.99), at(1), cpu_to - cpu_from);
    return 0;
}

int main(int argc, char **argv) {
    if (argc < 5) return 2;
    rclcpp::init(argc, argv);
    std::string what = argv[1];
    auto node = std::make_shared<rclcpp::Node>("points_" + what);
    int code = what == "pub" ? publish(node, std::stoul(argv[2]), std::stoi(argv[3]), std::stoi(argv[4]))
                             : subscribe(node, std::stoul(argv[2]), std::stoi(argv[4]));
    fflush(stdout);
    node.reset();
    rclcpp::shutdown();
    return code;
}
