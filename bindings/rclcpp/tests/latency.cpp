// Measures the latency of images through an executor of rclcpp:
// latency pub|sub|both BYTES COUNT RATE [in-place|rclcpp|guard [single|multi|static|events|queue]]
//
// With `in-place` (the default), the messages are in shared memory (gantry_rclcpp). With `rclcpp`, the endpoints are
// rclcpp's own, over any RMW. `both` is one process with a thread that publishes. Its messages are intra-process with
// `rclcpp`: rclcpp passes a pointer and triggers a guard condition. `both … guard` has no messages: the thread triggers
// a guard condition of rclcpp, so the latency is the latency of the executor, over any RMW.
//
// The last word selects the executor; `queue` is the EventsExecutor with gantry::EventsQueue.
//
// The subscription ends with the last message, or with SIGINT if that is lost. It prints one line of JSON. A latency is
// the time from before the publication to the beginning of the callback. Both processes print their CPU time (user and
// system) per message. The first ten messages are warm-up and do not count. `same_cpu` is the number of messages that
// arrived on the CPU on which they were published; the medians of these and of the other messages stand apart, too.
#include <gantry_msgs/sensor_msgs/msg/image.hpp>
#include <gantry_rclcpp/gantry_rclcpp.hpp>

#include <rclcpp/experimental/executors/events_executor/events_executor.hpp>
#include <sensor_msgs/msg/image.hpp>

#include <sched.h>
#include <sys/resource.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

using sensor_msgs::msg::Image;
using Sample = gantry::Sample<gantry_msgs::sensor_msgs::msg::Image>;

static std::int64_t now_ns() {
    timespec time = {};
    clock_gettime(CLOCK_MONOTONIC, &time);
    return std::int64_t{time.tv_sec} * 1000000000 + time.tv_nsec;
}

static std::int64_t stamp_ns(std::int32_t sec, std::uint32_t nanosec) {
    return std::int64_t{sec} * 1000000000 + nanosec;
}

static void sleep_until(std::int64_t due_ns) {
    const timespec due = {static_cast<std::time_t>(due_ns / 1000000000), static_cast<long>(due_ns % 1000000000)};
    while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &due, nullptr) != 0) {
    }
}

static double cpu_us() {
    rusage used = {};
    getrusage(RUSAGE_SELF, &used);
    const auto us = [](const timeval &time) {
        return static_cast<double>(time.tv_sec) * 1e6 + static_cast<double>(time.tv_usec);
    };
    return us(used.ru_utime) + us(used.ru_stime);
}

// Publishes messages at the due times. `prepare(index)` comes before the time stamp, `publish(time_ns)` follows it. The
// thread then sleeps at once, as in perf_test, because the kernel may wake the subscription on the same CPU.
template <class Prepare, class Publish>
static void pace(std::size_t count, double rate, Prepare &&prepare, Publish &&publish) {
    sleep_until(now_ns() + 300000000);  // some RMWs count a subscription before they send to it
    const double cpu_begin_us = cpu_us();
    std::int64_t due_ns = now_ns();
    for (std::size_t i = 0; i < count && rclcpp::ok(); i++) {
        due_ns += static_cast<std::int64_t>(1e9 / rate);
        sleep_until(due_ns);
        prepare(static_cast<std::uint32_t>(i));
        publish(now_ns());
    }
    std::printf("{\"publisher_cpu_us\": %.1f}\n", (cpu_us() - cpu_begin_us) / static_cast<double>(count));
    sleep_until(now_ns() + 300000000);  // the last message must be taken before its memory is removed
}

static void wait_for_subscription(const rclcpp::PublisherBase &endpoint) {
    while (rclcpp::ok() && endpoint.get_subscription_count() == 0) sleep_until(now_ns() + 1000000);
}

static void publish_in_place(const rclcpp::Node::SharedPtr &node, std::size_t bytes, std::size_t count, double rate) {
    auto images = gantry::create_publisher<Image>(node, "latency", rclcpp::QoS(10).reliable());
    wait_for_subscription(*images->endpoint());
    gantry::InPlacePublisher<Image>::Shape shape;
    shape.data = bytes;
    std::optional<gantry::Loan<gantry_msgs::sensor_msgs::msg::Image>> image;
    const auto prepare = [&](std::uint32_t index) {
        image.emplace(images->loan(shape).value());
        (*image)->data()[0] = 7;
        (*image)->set_height(index);
    };
    pace(count, rate, prepare, [&](std::int64_t time_ns) {
        (*image)->set_width(static_cast<std::uint32_t>(sched_getcpu()));
        (*image)->header().stamp().sec = static_cast<std::int32_t>(time_ns / 1000000000);
        (*image)->header().stamp().nanosec = static_cast<std::uint32_t>(time_ns % 1000000000);
        images->publish(*std::move(image)).value();
    });
}

static void publish_as_rclcpp(const rclcpp::Node::SharedPtr &node, std::size_t bytes, std::size_t count, double rate) {
    auto images = node->create_publisher<Image>("latency", rclcpp::QoS(10).reliable());
    const bool is_intra_process = node->get_node_options().use_intra_process_comms();
    if (!is_intra_process) wait_for_subscription(*images);
    auto image = std::make_unique<Image>();
    const auto prepare = [&](std::uint32_t index) {
        if (!image) image = std::make_unique<Image>();
        image->data.resize(bytes, 7);
        image->height = index;
    };
    pace(count, rate, prepare, [&](std::int64_t time_ns) {
        image->width = static_cast<std::uint32_t>(sched_getcpu());
        image->header.stamp.sec = static_cast<std::int32_t>(time_ns / 1000000000);
        image->header.stamp.nanosec = static_cast<std::uint32_t>(time_ns % 1000000000);
        is_intra_process ? images->publish(std::move(image)) : images->publish(*image);
    });
}

// Latencies in us.
class Latencies {
public:
    explicit Latencies(std::size_t count) { sorted_us_.reserve(count); }
    void add(double latency_us) { sorted_us_.push_back(latency_us); }
    std::size_t size() const { return sorted_us_.size(); }
    void sort() { std::sort(sorted_us_.begin(), sorted_us_.end()); }
    // After `sort`. Returns 0 if there are none.
    double quantile(double part) const {
        return size() == 0 ? 0 : sorted_us_[static_cast<std::size_t>(part * static_cast<double>(size() - 1))];
    }

private:
    std::vector<double> sorted_us_;
};

// The latencies of a subscription. The last message ends the spin.
struct Arrivals {
    static constexpr std::size_t warm_up = 10;
    rclcpp::Executor &executor;
    std::size_t count;
    Latencies all{count}, same_cpu{count}, other_cpu{count};
    std::size_t received = 0;
    double cpu_begin_us = 0;

    // `sent_cpu` is the CPU on which the message was published.
    void arrive(std::int64_t arrived_ns, std::int64_t sent_ns, std::uint32_t sent_cpu, std::uint32_t index) {
        if (received == warm_up) cpu_begin_us = cpu_us();
        if (received++ >= warm_up) {
            const double latency_us = static_cast<double>(arrived_ns - sent_ns) / 1000.0;
            all.add(latency_us);
            (sent_cpu == static_cast<std::uint32_t>(sched_getcpu()) ? same_cpu : other_cpu).add(latency_us);
        }
        if (index + 1 == count) executor.cancel();
    }
    void print(std::size_t bytes) {
        if (all.size() == 0) return;
        const double cpu_us_each = (cpu_us() - cpu_begin_us) / static_cast<double>(all.size());
        for (Latencies *each : {&all, &same_cpu, &other_cpu}) each->sort();
        std::printf("{\"bytes\": %zu, \"received\": %zu, \"n\": %zu, \"min_us\": %.2f, \"p50_us\": %.2f, "
                    "\"p99_us\": %.2f, \"max_us\": %.2f, \"subscription_cpu_us\": %.1f, \"same_cpu\": %zu, "
                    "\"same_cpu_p50_us\": %.2f, \"other_cpu_p50_us\": %.2f}\n",
                    bytes, received, all.size(), all.quantile(0), all.quantile(0.5), all.quantile(0.99), all.quantile(1),
                    cpu_us_each, same_cpu.size(), same_cpu.quantile(0.5), other_cpu.quantile(0.5));
    }
};

static std::unique_ptr<rclcpp::Executor> make_executor(const std::string &name) {
    if (name == "single") return std::make_unique<rclcpp::executors::SingleThreadedExecutor>();
    if (name == "multi") return std::make_unique<rclcpp::executors::MultiThreadedExecutor>();
    using rclcpp::experimental::executors::EventsExecutor;
    if (name == "events") return std::make_unique<EventsExecutor>();
    if (name == "queue") return std::make_unique<EventsExecutor>(std::make_unique<gantry::EventsQueue>());
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
    if (name == "static") return std::make_unique<rclcpp::executors::StaticSingleThreadedExecutor>();
#pragma GCC diagnostic pop
    throw std::invalid_argument("the executors are single, multi, static, events and queue");
}

static void subscribe(const rclcpp::Node::SharedPtr &node, std::size_t bytes, std::size_t count, bool is_in_place,
                      const std::string &executor_name) {
    auto executor = make_executor(executor_name);
    Arrivals arrivals{*executor, count};
    const auto qos = rclcpp::QoS(10).reliable();
    std::shared_ptr<void> subscription;
    if (is_in_place)
        subscription = gantry::create_subscription<Image>(node, "latency", qos, [&](const Sample &image) {
            const std::int64_t arrived_ns = now_ns();
            const auto &stamp = image->header().stamp();
            arrivals.arrive(arrived_ns, stamp_ns(stamp.sec, stamp.nanosec), image->width(), image->height());
        });
    else
        subscription = node->create_subscription<Image>("latency", qos, [&](const Image::ConstSharedPtr &image) {
            const std::int64_t arrived_ns = now_ns();
            const auto &stamp = image->header.stamp;
            arrivals.arrive(arrived_ns, stamp_ns(stamp.sec, stamp.nanosec), image->width, image->height);
        });
    executor->add_node(node);
    executor->spin();
    arrivals.print(bytes);
}

// Triggers a guard condition of the node's executor at the due times.
static void trigger(const rclcpp::Node::SharedPtr &node, std::size_t count, double rate, const std::string &executor_name) {
    auto executor = make_executor(executor_name);
    Arrivals arrivals{*executor, count};
    std::atomic<std::int64_t> sent_ns{0};
    std::atomic<int> sent_cpu{0};
    std::uint32_t index = 0;
    const auto waitable = std::make_shared<rclcpp::executors::ExecutorNotifyWaitable>([&] {
        const std::int64_t arrived_ns = now_ns(), sent = sent_ns.exchange(0);
        if (sent == 0) return;  // a first call without a trigger
        arrivals.arrive(arrived_ns, sent, static_cast<std::uint32_t>(sent_cpu.load()), index++);
    });
    const auto guard = std::make_shared<rclcpp::GuardCondition>();
    waitable->add_guard_condition(guard);
    node->get_node_waitables_interface()->add_waitable(waitable, nullptr);
    executor->add_node(node);
    std::thread triggering([&] {
        pace(count, rate, [](std::uint32_t) {}, [&](std::int64_t time_ns) {
            sent_cpu = sched_getcpu();
            sent_ns = time_ns;
            guard->trigger();
        });
    });
    executor->spin();
    triggering.join();
    arrivals.print(0);
}

int main(int argc, char **argv) {
    rclcpp::init(argc, argv);
    const std::vector<std::string> arguments(argv + 1, argv + argc);
    const auto argument = [&](std::size_t index, const char *otherwise) {
        return index < arguments.size() ? arguments[index] : std::string(otherwise);
    };
    if (arguments.size() < 4) {
        std::fprintf(stderr, "latency pub|sub|both BYTES COUNT RATE [in-place|rclcpp|guard [single|multi|static|events|queue]]\n");
        return 2;
    }
    const std::size_t bytes = std::stoul(arguments[1]), count = std::stoul(arguments[2]);
    const double rate = std::stod(arguments[3]);
    const bool is_in_place = argument(4, "in-place") == "in-place";
    const bool is_both = arguments[0] == "both";
    auto node = std::make_shared<rclcpp::Node>("latency_" + arguments[0],
                                               rclcpp::NodeOptions().use_intra_process_comms(is_both && !is_in_place));
    const auto publish = [&] { (is_in_place ? publish_in_place : publish_as_rclcpp)(node, bytes, count, rate); };
    if (argument(4, "in-place") == "guard") {
        trigger(node, count, rate, argument(5, "single"));
        rclcpp::shutdown();
        return 0;
    }
    std::thread publisher;
    if (is_both) publisher = std::thread(publish);
    if (arguments[0] == "pub") publish();
    else subscribe(node, bytes, count, is_in_place, argument(5, "single"));
    if (is_both) publisher.join();
    rclcpp::shutdown();
    return 0;
}
