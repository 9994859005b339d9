// A filter that reads clouds in their publisher's memory. It publishes the points above the ground as a cloud, and an
// Obstacles message. Usage: point_cloud_filter [CLOUDS]. With `--lidar` it also publishes clouds for itself.
#include <gantry.hpp>
#include <gantry_msgs/example_robot/msg/obstacles.hpp>
#include <gantry_msgs/sensor_msgs/msg/point_cloud2.hpp>

#include <cmath>
#include <cstdio>
#include <cstring>

using gantry_msgs::example_robot::msg::Obstacles;
using gantry_msgs::sensor_msgs::msg::PointCloud2;
using gantry_msgs::sensor_msgs::msg::PointField;

struct Point {
    float x, y, z;
};

// The points of a cloud whose fields are x, y and z as floats.
static gantry::span<const Point> points(const PointCloud2::View &cloud) {
    return {reinterpret_cast<const Point *>(cloud.data().data()), cloud.data().size() / sizeof(Point)};
}

static PointCloud2::Shape shape_of(std::size_t count, std::string_view frame_id) {
    PointCloud2::Shape shape;
    shape.header.frame_id = frame_id;
    shape.fields.resize(3);
    shape.fields[0].name = "x";
    shape.fields[1].name = "y";
    shape.fields[2].name = "z";
    shape.data = count * sizeof(Point);
    return shape;
}

static gantry::span<Point> begin_cloud(PointCloud2::MutView &cloud) {
    std::uint32_t offset = 0;
    for (const auto field : cloud.fields()) {
        field.set_offset(offset);
        field.set_datatype(PointField::FLOAT32);
        field.set_count(1);
        offset += 4;
    }
    const auto data = cloud.data();
    cloud.set_height(1);
    cloud.set_width(static_cast<std::uint32_t>(data.size() / sizeof(Point)));
    cloud.set_point_step(sizeof(Point));
    cloud.set_row_step(static_cast<std::uint32_t>(data.size()));
    return {reinterpret_cast<Point *>(data.data()), data.size() / sizeof(Point)};
}

int main(int argc, char **argv) {
    gantry::init(argc, argv).value();
    const bool is_lidar = argc > 1 && std::strcmp(argv[argc - 1], "--lidar") == 0;
    int left = argc > 1 && argv[1][0] != '-' ? std::atoi(argv[1]) : -1;
    const auto node = gantry::Node::create("point_cloud_filter").value();
    auto executor = gantry::SingleThreadedExecutor::create(node).value();
    auto filtered = node.create_publisher<PointCloud2>("points_filtered").value();
    auto obstacles = node.create_publisher<Obstacles>("obstacles").value();

    const auto subscription = node.create_subscription<PointCloud2>("points", 10, [&](const auto &cloud) {
        const auto all = points(*cloud);
        std::size_t count = 0;
        for (const Point &point : all) count += point.z > 0.2f;
        auto out = filtered.loan(shape_of(count, cloud->header().frame_id())).value();
        Obstacles::Shape shape;
        shape.header.frame_id = cloud->header().frame_id();
        shape.heights = count;
        auto found = obstacles.loan(shape).value();
        const auto target = begin_cloud(*out);
        const auto heights = found->heights();
        std::size_t at = 0;
        float nearest = INFINITY;
        for (const Point &point : all) {
            if (!(point.z > 0.2f)) continue;
            target[at] = point;
            heights[at++] = point.z;
            const float distance = std::hypot(point.x, point.y);
            if (distance < nearest) {
                nearest = distance;
                found->nearest() = {point.x, point.y, point.z};
            }
        }
        found->set_count(static_cast<std::uint32_t>(count));
        filtered.publish(std::move(out)).value();
        obstacles.publish(std::move(found)).value();
        std::printf("%zu of %zu points are above the ground\n", count, all.size());
        if (--left == 0) executor.cancel();
    }).value();

    std::optional<gantry::Publisher<PointCloud2>> lidar;
    std::shared_ptr<gantry::Timer> timer;
    if (is_lidar) {
        lidar = node.create_publisher<PointCloud2>("points").value();
        timer = node.create_timer(std::chrono::milliseconds(100), [&] {
            lidar->publish(shape_of(1000, "lidar"), [](PointCloud2::MutView &cloud) {
                float angle = 0;
                for (Point &point : begin_cloud(cloud)) {
                    angle += 0.05f;
                    point = {std::cos(angle), std::sin(angle), std::sin(7 * angle)};
                }
            }).value();
        }).value();
    }
    executor.spin().value();
    return 0;
}
