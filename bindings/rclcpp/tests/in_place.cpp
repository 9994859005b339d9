// Tests nodes over rmw_gantry in one process: messages in shared memory together with messages of ROS 2, on remapped
// topics, in each kind of executor.
#include "../../cpp/tests/check.hpp"

#include <gantry_msgs/sensor_msgs/msg/image.hpp>
#include <gantry_rclcpp/gantry_rclcpp.hpp>

#include <rclcpp/experimental/executors/events_executor/events_executor.hpp>
#include <sensor_msgs/msg/image.hpp>

#include <optional>

using rclcpp::experimental::executors::EventsExecutor;
using sensor_msgs::msg::Image;
using Sample = gantry::Sample<gantry_msgs::sensor_msgs::msg::Image>;
using Publisher = gantry::InPlacePublisher<Image>;

static void publish(Publisher &publisher, std::uint32_t width) {
    Publisher::Shape shape;
    shape.encoding = "mono8";
    shape.data = 100000;
    ok(publisher.publish(shape, [&](auto &image) {
        image.set_width(width);
        for (auto &pixel : image.data()) pixel = static_cast<std::uint8_t>(width);
    }));
}

template <class Executor>
static void spin_until(Executor &executor, const std::function<bool()> &is_done) {
    const auto end = std::chrono::steady_clock::now() + PATIENCE;
    while (!is_done() && std::chrono::steady_clock::now() < end) executor.spin_some(std::chrono::milliseconds(10));
    CHECK(is_done());
}

// A topic with two publishers and two subscriptions: one of each for messages in shared memory, and one of each of
// rclcpp.
template <class Executor, class... Arguments>
static void all_meet(const char *topic, Arguments... arguments) {
    const rclcpp::NodeOptions options =
        rclcpp::NodeOptions().arguments({"--ros-args", "-r", "__ns:=/left", "-r", "image:=" + std::string(topic)});
    auto node = std::make_shared<rclcpp::Node>("eye", options);
    const auto qos = rclcpp::QoS(10).reliable();
    std::vector<std::uint32_t> widths, copied_widths;
    std::optional<Sample> kept;
    auto in_place = gantry::create_subscription<Image>(node, "image", qos, [&](Sample image) {
        CHECK(image->encoding() == "mono8" && image->data().size() == 100000);
        CHECK(image->data()[99999] == (image->width() & 0xff) && image.info().sequence > 0);
        widths.push_back(image->width());
        kept = std::move(image);
    });
    auto copied = node->create_subscription<Image>("image", qos, [&](const Image &image) {
        CHECK(image.encoding == "mono8" && image.data.size() == 100000 && image.data[99999] == (image.width & 0xff));
        copied_widths.push_back(image.width);
    });
    auto publisher = gantry::create_publisher<Image>(*node, "image", qos);
    auto copying = node->create_publisher<Image>("image", qos);
    const std::string name = "/left/" + std::string(topic);
    CHECK(publisher->endpoint()->get_topic_name() == name && in_place->endpoint()->get_topic_name() == name);
    Executor executor(std::move(arguments)...);
    executor.add_node(node);
    spin_until(executor, [&] { return publisher->endpoint()->get_subscription_count() == 2; });
    CHECK(node->count_publishers(name) == 2 && node->count_subscribers(name) == 2);
    const auto peers = node->get_publishers_info_by_topic(name);
    CHECK(peers.size() == 2 && peers[0].node_name() == "eye" && peers[0].topic_type() == "sensor_msgs/msg/Image");

    for (std::uint32_t width = 1; width <= 3; width++) publish(*publisher, width);
    Image image;
    image.encoding = "mono8";
    image.width = 4;
    image.data.assign(100000, 4);
    copying->publish(image);
    publisher->endpoint()->publish(image);
    const std::vector<std::uint32_t> expected{1, 2, 3, 4, 4};
    spin_until(executor, [&] { return widths.size() == 5 && copied_widths.size() == 5; });
    CHECK(widths == expected && copied_widths == expected);

    // The callback of a dropped subscription is not called any more; the last message stays valid.
    in_place.reset();
    publish(*publisher, 5);
    spin_until(executor, [&] { return copied_widths.size() == 6; });
    CHECK(widths.size() == 5);
    executor.remove_node(node);
    publisher.reset();
    node.reset();
    CHECK((*kept)->width() == 4 && (*kept)->data()[0] == 4);
}

// A spinning EventsExecutor with an EventsQueue calls the callbacks on its own thread: of subscriptions in place,
// which the queue waits for, and of timers and other subscriptions. A subscription may come and go meanwhile.
static void events_queue() {
    gantry::EventsQueue empty;
    gantry::EventsQueue::Event event;
    CHECK(!empty.dequeue(event, std::chrono::nanoseconds(-5)));  // the time of a timer that is overdue
    auto node = std::make_shared<rclcpp::Node>("queue_node");
    EventsExecutor executor(std::make_unique<gantry::EventsQueue>());
    executor.add_node(node);
    std::atomic<int> received{0}, others{0}, ticks{0}, late{0};
    std::atomic<bool> is_own_thread{true};
    std::thread::id spinner;
    const auto check_thread = [&] { is_own_thread = is_own_thread && std::this_thread::get_id() == spinner; };
    auto first = gantry::create_subscription<Image>(node, "one", rclcpp::QoS(100), [&](const Sample &) { check_thread(), received++; });
    auto other = node->create_subscription<Image>("one", rclcpp::QoS(100), [&](const Image &) { check_thread(), others++; });
    auto timer = node->create_wall_timer(std::chrono::milliseconds(1), [&] { check_thread(), ticks++; });
    auto publisher = gantry::create_publisher<Image>(node, "one", rclcpp::QoS(100));
    while (publisher->endpoint()->get_subscription_count() < 2) std::this_thread::yield();
    std::atomic<bool> is_set{false};
    std::thread spinning([&] {
        spinner = std::this_thread::get_id();
        is_set = true;
        executor.spin();
    });
    while (!is_set) std::this_thread::yield();
    const auto wait_for = [](const std::atomic<int> &count, int least) {
        const auto end = std::chrono::steady_clock::now() + PATIENCE;
        while (count < least && std::chrono::steady_clock::now() < end) std::this_thread::yield();
        CHECK(count >= least);
    };
    for (std::uint32_t i = 0; i < 50; i++) publish(*publisher, i);
    wait_for(received, 50);
    wait_for(others, 50);
    wait_for(ticks, 3);
    for (int i = 0; i < 20; i++) {
        auto passing = gantry::create_subscription<Image>(node, "late", rclcpp::QoS(10), [&](const Sample &) { late++; });
        auto sender = gantry::create_publisher<Image>(node, "late", rclcpp::QoS(10));
        while (sender->endpoint()->get_subscription_count() == 0) std::this_thread::yield();
        publish(*sender, 1);
        wait_for(late, i + 1);
    }
    first.reset();
    publish(*publisher, 51);
    wait_for(others, 51);
    CHECK(received == 50 && late == 20 && is_own_thread);
    executor.cancel();
    spinning.join();
}

// In an executor with several threads, only one thread at a time takes, and no message arrives twice.
static void several_threads() {
    auto node = std::make_shared<rclcpp::Node>("threads");
    std::atomic<int> received{0};
    std::vector<std::atomic<int>> marks(100);
    rclcpp::SubscriptionOptions options;
    options.callback_group = node->create_callback_group(rclcpp::CallbackGroupType::Reentrant);
    auto images = gantry::create_subscription<Image>(
        node, "several", rclcpp::QoS(100),
        [&](const Sample &image) {
            CHECK(image->data().size() == 100000 && image->width() < marks.size());
            marks[image->width()]++;
            received++;
        },
        options);
    auto publisher = gantry::create_publisher<Image>(node, "several", rclcpp::QoS(100));
    rclcpp::executors::MultiThreadedExecutor executor(rclcpp::ExecutorOptions(), 3);
    executor.add_node(node);
    std::thread spinning([&] { executor.spin(); });
    while (publisher->endpoint()->get_subscription_count() == 0) std::this_thread::yield();
    for (std::uint32_t width = 0; width < 100; width++) publish(*publisher, width);
    const auto end = std::chrono::steady_clock::now() + PATIENCE;
    while (received < 100 && std::chrono::steady_clock::now() < end) std::this_thread::yield();
    executor.cancel();
    spinning.join();
    CHECK(received == 100);
    for (const auto &mark : marks) CHECK(mark == 1);
}

// The callback for incompatible QoS runs in the node's executor, even for a subscription to messages in shared memory.
static void events() {
    auto node = std::make_shared<rclcpp::Node>("events");
    int incompatible = 0;
    rclcpp::SubscriptionOptions options;
    options.event_callbacks.incompatible_qos_callback = [&](rclcpp::QOSRequestedIncompatibleQoSInfo &) { incompatible++; };
    auto images =
        gantry::create_subscription<Image>(node, "qos", rclcpp::QoS(1).reliable(), [](const Sample &) { CHECK(false); }, options);
    auto publisher = gantry::create_publisher<Image>(node, "qos", rclcpp::QoS(1).best_effort());
    rclcpp::executors::SingleThreadedExecutor executor;
    executor.add_node(node);
    spin_until(executor, [&] { return incompatible == 1; });
}

// An endpoint that outlives its subscription object no longer calls the executor's function, which refers to this
// object.
static void endpoint_outlives() {
    auto node = std::make_shared<rclcpp::Node>("outlives");
    auto images = gantry::create_subscription<Image>(node, "kept", rclcpp::QoS(10), [](const Sample &) { CHECK(false); });
    const auto endpoint = images->endpoint();
    auto calls = std::make_shared<std::atomic<int>>(0);
    const std::weak_ptr<std::atomic<int>> function = calls;
    images->set_on_ready_callback([calls](std::size_t, int) { ++*calls; });
    calls.reset();
    CHECK(!function.expired());
    images.reset();
    CHECK(function.expired());
    publish(*gantry::create_publisher<Image>(node, "kept", rclcpp::QoS(10)), 1);
}

// A subscription of rclcpp with intra-process communication also gets messages that a publisher in the same process
// wrote in shared memory.
static void intra_process() {
    auto node = std::make_shared<rclcpp::Node>("intra", rclcpp::NodeOptions().use_intra_process_comms(true));
    std::vector<std::uint32_t> widths;
    auto copied = node->create_subscription<Image>("intra", rclcpp::QoS(10), [&](const Image &image) { widths.push_back(image.width); });
    auto publisher = gantry::create_publisher<Image>(node, "intra", rclcpp::QoS(10));
    rclcpp::executors::SingleThreadedExecutor executor;
    executor.add_node(node);
    spin_until(executor, [&] { return publisher->endpoint()->get_subscription_count() == 1; });
    publish(*publisher, 1);
    publish(*publisher, 2);
    spin_until(executor, [&] { return widths.size() == 2; });
    CHECK(widths == (std::vector<std::uint32_t>{1, 2}));
}

int main(int argc, char **argv) {
    rclcpp::init(argc, argv);
    all_meet<rclcpp::executors::SingleThreadedExecutor>("single");
    all_meet<rclcpp::executors::MultiThreadedExecutor>("multi");
    all_meet<EventsExecutor>("events");
    all_meet<EventsExecutor>("queue", std::make_unique<gantry::EventsQueue>());
    events_queue();
    several_threads();
    events();
    endpoint_outlives();
    intra_process();
    rclcpp::shutdown();
    std::puts("passed");
    return 0;
}
