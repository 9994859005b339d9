// Nodes with a publisher and a subscription each, on a ring: `nodes FIRST COUNT TOTAL` creates the nodes FIRST to FIRST + COUNT - 1
// of TOTAL in this process. Prints "ready NS" once each sees all names and its neighbours, and obeys lines of its input:
// "usage" prints the CPU time, "publish" sends a message from each node, "received" prints how many have arrived.
#include <sys/resource.h>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <iostream>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "rclcpp/rclcpp.hpp"
#include "std_msgs/msg/string.hpp"

using std_msgs::msg::String;

static int64_t now() {
    return std::chrono::nanoseconds(std::chrono::steady_clock::now().time_since_epoch()).count();
}

static int64_t cpu() {
    rusage use;
    getrusage(RUSAGE_SELF, &use);
    auto ns = [](timeval t) { return t.tv_sec * 1000000000LL + t.tv_usec * 1000LL; };
    return ns(use.ru_utime) + ns(use.ru_stime);
}

struct Member {
    rclcpp::Node::SharedPtr node;
    rclcpp::Publisher<String>::SharedPtr publisher;
    rclcpp::Subscription<String>::SharedPtr subscription;

    bool sees(size_t total) const {
        if (!subscription->get_publisher_count() || !publisher->get_subscription_count()) return false;
        std::set<std::string> names;
        for (auto &name : node->get_node_graph_interface()->get_node_names())
            if (name.rfind("/chatter_", 0) == 0) names.insert(name);
        return names.size() >= total;
    }
};

int main(int argc, char **argv) {
    if (argc < 4) return 2;
    int first = std::stoi(argv[1]), count = std::stoi(argv[2]), total = std::stoi(argv[3]);
    rclcpp::init(argc, argv);
    std::atomic<uint64_t> received{0};
    rclcpp::executors::SingleThreadedExecutor executor;
    std::vector<Member> members;
    for (int i = first; i < first + count; i++) {
        auto node = std::make_shared<rclcpp::Node>("chatter_" + std::to_string(i));
        auto publisher = node->create_publisher<String>("chat_" + std::to_string((i + 1) % total), 10);
        auto subscription = node->create_subscription<String>("chat_" + std::to_string(i), 10,
                                                              [&](String::ConstSharedPtr) { received++; });
        executor.add_node(node);
        members.push_back({node, publisher, subscription});
    }
    printf("created %ld\n", now());
    fflush(stdout);
    std::thread spinner([&] { executor.spin(); });
    auto pause = std::chrono::milliseconds(total > 20 && count < total ? 50 : 5);
    for (auto &member : members)
        while (rclcpp::ok() && !member.sees(total)) std::this_thread::sleep_for(pause);
    printf("ready %ld\n", now());
    fflush(stdout);
    std::string line;
    while (rclcpp::ok() && std::getline(std::cin, line)) {
        if (line == "usage") printf("usage %ld\n", cpu());
        if (line == "received") printf("received %lu\n", received.load());
        if (line == "publish") {
            String text;
            text.data = "hello";
            for (auto &member : members) member.publisher->publish(text);
            printf("published\n");
        }
        fflush(stdout);
    }
    executor.cancel();
    spinner.join();
    members.clear();
    rclcpp::shutdown();
    return 0;
}
