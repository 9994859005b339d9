// Tests of typed topics: plain messages, messages of any length, counts, events, and samples that outlive their node.
#include "check.hpp"

#include <gantry.hpp>
#include <gantry_msgs/geometry_msgs/msg/point.hpp>
#include <gantry_msgs/sensor_msgs/msg/image.hpp>
#include <gantry_msgs/sensor_msgs/msg/point_cloud2.hpp>

using namespace gantry_msgs;
using geometry_msgs::msg::Point;
using sensor_msgs::msg::Image;
using sensor_msgs::msg::PointCloud2;

static void plain() {
    auto node = ok(gantry::Node::create("plain"));
    auto publisher = ok(node.create_publisher<Point>("points", gantry::QoS(3)));
    auto subscription = ok(node.create_subscription<Point>("points"));
    auto point = ok(publisher.loan());
    CHECK(point->x == 0 && point->y == 0);
    point->x = 1.5;
    CHECK(ok(publisher.publish(std::move(point))) == 1);
    CHECK(!point);
    CHECK(!publisher.publish(std::move(point)).has_value());
    ok(publisher.publish(Point{1, 2, 3}));
    CHECK(ok(subscription.wait(PATIENCE)));
    const auto first = ok(subscription.take()), second = ok(subscription.take());
    CHECK((*first)->x == 1.5 && first->info().sequence == 1);
    CHECK((**second).z == 3 && second->info().sequence == 2);
    CHECK(!ok(subscription.take()).has_value());
    CHECK(!ok(subscription.wait(std::chrono::nanoseconds(0))));
}

static void any_length() {
    auto node = ok(gantry::Node::create("any_length", {"/left", {"--ros-args", "-r", "image:=picture"}, {}, true}));
    CHECK(std::string(node.get_fully_qualified_name()) == "/left/any_length");
    auto publisher = ok(node.create_publisher<Image>("image", gantry::SensorDataQoS()));
    CHECK(std::string(publisher.get_topic_name()) == "/left/picture");
    auto subscription = ok(node.create_subscription<Image>("image", gantry::SensorDataQoS()));
    CHECK(ok(publisher.wait_for_subscriptions(1, PATIENCE)) && ok(subscription.wait_for_publishers(1, PATIENCE)));

    Image::Shape shape;
    shape.header.frame_id = "camera";
    shape.encoding = "rgb8";
    shape.data = 640 * 480 * 3;
    auto image = ok(publisher.loan(shape));
    CHECK(image->width() == 0 && image->data().size() == shape.data);
    image->set_width(640);
    image->header().stamp().sec = 7;
    std::fill(image->data().begin(), image->data().end(), std::uint8_t{0x7f});
    const std::uint8_t *written = image->data().data();
    ok(publisher.publish(std::move(image)));
    std::optional<gantry::Sample<Image>> kept = ok(subscription.take());
    CHECK(kept.has_value());
    const Image::View &view = **kept;
    CHECK(view.width() == 640 && view.header().frame_id() == "camera" && view.header().stamp().sec == 7);
    CHECK(view.encoding() == "rgb8" && view.data().back() == 0x7f);
    CHECK(view.data().data() != nullptr && written != nullptr);

    // A text that is not UTF-8 is refused, and nothing is published.
    shape.encoding = "\xff";
    const auto refused = publisher.loan(shape);
    CHECK(!refused.has_value() && refused.error().message.find("`encoding` of sensor_msgs/msg/Image") == 0);

    PointCloud2::Shape cloud_shape;
    cloud_shape.fields.resize(3);
    cloud_shape.fields[0].name = "x";
    cloud_shape.fields[2].name = "z";
    cloud_shape.data = 12;
    auto clouds = ok(node.create_publisher<PointCloud2>("cloud"));
    auto cloud_subscription = ok(node.create_subscription<PointCloud2>("cloud"));
    ok(clouds.publish(cloud_shape, [](auto &cloud) {
        std::uint32_t offset = 0;
        for (auto field : cloud.fields()) {
            field.set_offset(offset);
            field.set_datatype(sensor_msgs::msg::PointField::FLOAT32);
            offset += 4;
        }
    }));
    const auto cloud = ok(cloud_subscription.take());
    CHECK((*cloud)->fields().size() == 3 && (*cloud)->fields().get(2)->name() == "z" && (*cloud)->fields().get(1)->offset() == 4);
    CHECK((*cloud)->fields().get(0)->datatype() == 7 && !(*cloud)->fields().get(3) && (*cloud)->data().size() == 12);

    // The sample outlives its subscription, its publisher and its node.
    {
        auto gone = std::move(subscription);
        auto gone_publisher = std::move(publisher);
        auto gone_node = std::move(node);
    }
    CHECK(kept->generic().bytes().size() > shape.data && (*kept)->data()[5] == 0x7f);
}

static void bytes_and_events() {
    auto node = ok(gantry::Node::create("generic"));
    auto changes = ok(node.graph_events());
    const gantry_type &type = gantry::message<Image>::type();
    auto publisher = ok(node.create_generic_publisher("bytes", type));
    auto typed = ok(node.create_subscription<Image>("bytes"));
    auto events = ok(typed.generic().events());
    const auto event = ok(events.take());
    CHECK(event && event->kind == GANTRY_EVENT_MATCHED && event->current_count == 1);
    CHECK(ok(changes.take()).has_value());
    const std::uint8_t nonsense[] = {1, 2, 3};
    ok(publisher.publish_copy(nonsense));
    CHECK(!ok(typed.take()).has_value());
    CHECK(ok(typed.generic().counts()).malformed == 1);

    auto wait_set = ok(gantry::WaitSet::create(node));
    auto guard = ok(gantry::GuardCondition::create());
    auto timer = ok(node.create_timer(std::chrono::hours(1)));
    CHECK(!ok(wait_set.wait(std::chrono::nanoseconds(0), typed, guard, timer)));
    guard.trigger();
    CHECK(ok(wait_set.wait(PATIENCE, typed, guard, timer)) && guard.take() && !guard.take());
    const auto names = ok(node.get_topic_names_and_types());
    CHECK(names.at("/bytes") == std::vector<std::string>{"sensor_msgs/msg/Image"});
    CHECK(ok(node.count_publishers("bytes")) == 1 && ok(node.count_subscribers("bytes")) == 1);
}

int main() {
    plain();
    any_length();
    bytes_and_events();
    return 0;
}
