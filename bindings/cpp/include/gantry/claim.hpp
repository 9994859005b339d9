// Claims of executors on nodes. Callbacks have no lock of their own, so only one executor at a time may run them.
#pragma once

#include <gantry/node.hpp>

#include <vector>

namespace gantry::detail {

// The exclusive right of one executor to run the callbacks of these nodes while this object lives.
class claim {
public:
    explicit claim(const std::vector<Node> &nodes) noexcept : nodes_(nodes) {
        while (count_ < nodes.size() && nodes[count_].callbacks().try_claim()) count_++;
        is_complete_ = count_ == nodes.size();
    }
    ~claim() {
        for (std::size_t i = 0; i < count_; i++) nodes_[i].callbacks().end_claim();
    }
    claim(const claim &) = delete;
    claim &operator=(const claim &) = delete;

    explicit operator bool() const noexcept { return is_complete_; }
    static error refusal() {
        return {GANTRY_INVALID_ARGUMENT,
                "another executor runs the callbacks of a node now: add the node to one executor, and spin in no callback of it"};
    }

private:
    const std::vector<Node> &nodes_;
    std::size_t count_ = 0;
    bool is_complete_ = false;
};

// Adds a node to the list if the list does not contain it.
inline void add_once(std::vector<Node> &nodes, const Node &node) {
    for (const auto &each : nodes)
        if (&each.callbacks() == &node.callbacks()) return;
    nodes.push_back(node);
}

}  // namespace gantry::detail
