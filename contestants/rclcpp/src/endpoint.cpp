#include "endpoint.hpp"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <map>
#include <mutex>
#include <stdexcept>
#include <vector>

#include "executor.hpp"

bool is_intra_process(const perf_test_run &run) {
    const char *value = perf_test_run_setting(&run, "intra-process");
    return value != nullptr && std::strcmp(value, "on") == 0;
}

static rclcpp::NodeOptions options_of(const perf_test_run &run) {
    return rclcpp::NodeOptions().use_intra_process_comms(is_intra_process(run));
}

rclcpp::Node::SharedPtr shared_node(const perf_test_run &run, const std::string &full_name) {
    static std::mutex mutex;
    static std::map<std::string, std::weak_ptr<rclcpp::Node>> nodes;
    const std::lock_guard<std::mutex> lock(mutex);
    rclcpp::Node::SharedPtr node = nodes[full_name].lock();
    if (!node) {
        const auto slash = full_name.rfind('/');
        const std::string space = slash == 0 ? "/" : full_name.substr(0, slash);
        node = std::make_shared<rclcpp::Node>(full_name.substr(slash + 1), space, options_of(run));
        nodes[full_name] = node;
    }
    return node;
}

static rclcpp::Node::SharedPtr make_node(const Plan &plan, const char *kind) {
    if (plan.run.executor != nullptr) {
        return shared_node(plan.run, plan.endpoint.node);
    }
    const std::string name = std::string(kind) + "_" + std::to_string(plan.endpoint.index);
    return std::make_shared<rclcpp::Node>(name, options_of(plan.run));
}

// True if the ids of messages contain the publisher's number. Only the single topic of a run uses this; a topology has
// several topics.
static bool has_marks(const perf_test_run &run) {
    return is_intra_process(run) && run.publishers > 1 && run.executor == nullptr;
}

// True if the publisher hands over an owned message (a unique_ptr). With intra-process=on, rclcpp has no loans, so
// loaned_msg also means an owned message.
static bool is_owning(const Plan &plan) {
    if (plan.run.executor == nullptr) {
        return is_intra_process(plan.run);
    }
    return plan.endpoint.pass_by == PERF_TEST_UNIQUE_PTR ||
           (plan.endpoint.pass_by == PERF_TEST_LOANED_MSG && is_intra_process(plan.run));
}

rclcpp::QoS qos_of(const perf_test_qos &qos) {
    rclcpp::QoS result = qos.history == PERF_TEST_KEEP_ALL ? rclcpp::QoS(rclcpp::KeepAll())
                                                           : rclcpp::QoS(rclcpp::KeepLast(qos.depth));
    if (qos.reliability == PERF_TEST_RELIABLE) {
        result.reliable();
    } else {
        result.best_effort();
    }
    if (qos.durability == PERF_TEST_TRANSIENT_LOCAL) {
        result.transient_local();
    } else {
        result.durability_volatile();
    }
    return result;
}

void check_qos(const perf_test_qos &qos, const rclcpp::QoS &actual) {
    const rclcpp::QoS asked = qos_of(qos);
    const bool has_depth = asked.history() == rclcpp::HistoryPolicy::KeepAll || asked.depth() == actual.depth();
    if (asked.reliability() != actual.reliability() || asked.durability() != actual.durability() ||
        asked.history() != actual.history() || !has_depth) {
        throw std::runtime_error(
            "the RMW changed the QoS of the run: check its profiles (XML) and environment variables");
    }
}

Publisher::Publisher(const Plan &plan)
    : node_(make_node(plan, "publisher")), type_(plan.endpoint.message),
      is_loaning_(plan.run.zero_copy ||
                  (plan.endpoint.pass_by == PERF_TEST_LOANED_MSG && !is_intra_process(plan.run))),
      is_owning_(is_owning(plan)), is_intra_process_(is_intra_process(plan.run)),
      id_mask_(is_intra_process_ ? type_.last_id & ID_MASK : type_.last_id),
      id_mark_(has_marks(plan.run) ? std::uint64_t{plan.endpoint.index + 1} << ID_BITS : 0) {}

bool Publisher::source(std::uint8_t id[16]) {
    if (is_intra_process_) {
        const std::uint64_t mark = id_mark_ >> ID_BITS;
        std::memcpy(id, &mark, sizeof mark);
        return mark != 0;
    }
    const auto &gid = base().get_gid().data;
    std::memcpy(id, gid, 16);
    // Only a GID of 16 bytes counts: Cyclone DDS gives a handle of 8 bytes, which differs between processes.
    return std::any_of(id + 8, id + 16, [](std::uint8_t byte) { return byte != 0; });
}

Subscription::Subscription(const Plan &plan)
    : node_(make_node(plan, "subscription")), is_intra_process_(is_intra_process(plan.run)),
      executor_name_(perf_test_run_setting(&plan.run, "executor")) {
    if (plan.run.executor != nullptr && is_intra_process_ && plan.endpoint.expected > 1) {
        throw std::invalid_argument("with intra-process=on its messages do not tell the publishers of " +
                                    std::string(plan.endpoint.topic) + " apart: leave out the setting");
    }
}

Subscription::~Subscription() { stop(); }

void Subscription::start(perf_test_sink *sink) {
    sink_ = sink;
    executor_ = make_executor(executor_name_);
    executor_->add_node(node_);
    spinning_ = std::async(std::launch::async, [this] {
        try {
            executor_->spin();
        } catch (const std::exception &error) {
            perf_test_sink_failed(sink_, (std::string("the executor of rclcpp ended: ") + error.what()).c_str());
        }
    });
}

void Subscription::stop() {
    if (!spinning_.valid()) {
        return;
    }
    // An executor ignores a cancel before its thread has begun to spin, so cancel is repeated.
    do {
        executor_->cancel();
    } while (spinning_.wait_for(std::chrono::milliseconds(10)) != std::future_status::ready);
    spinning_.get();
    executor_->remove_node(node_);
}

rclcpp::Node::SharedPtr Subscription::start_in_executor(perf_test_sink *sink) {
    sink_ = sink;
    return node_;
}

void Subscription::deliver(perf_test_taken &taken, const rclcpp::MessageInfo &info) {
    if (is_intra_process_) {
        const std::uint64_t mark = taken.id >> ID_BITS;
        std::memcpy(taken.source, &mark, sizeof mark);
        taken.id &= ID_MASK;
    } else {
        const auto &gid = info.get_rmw_message_info().publisher_gid.data;
        std::memcpy(taken.source, gid, std::min(sizeof taken.source, sizeof gid));
    }
    perf_test_sink_taken(sink_, &taken);
}

static std::vector<MessageType> &message_types() {
    static std::vector<MessageType> types;
    return types;
}

bool add_message_types(std::initializer_list<MessageType> types) {
    message_types().insert(message_types().end(), types);
    return true;
}

const MessageType &find_message_type(const std::string &name) {
    for (const MessageType &type : message_types()) {
        if (name == type.name) {
            return type;
        }
    }
    throw std::invalid_argument("this program has no message " + name + ": use one of `perf_test --msg-list`");
}
