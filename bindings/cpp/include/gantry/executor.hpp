// Executors, which call the callbacks of nodes.
#pragma once

#include <gantry/claim.hpp>
#include <gantry/program.hpp>
#include <gantry/wait_set.hpp>

#include <atomic>

namespace gantry {

// Runs the callbacks of its nodes, one at a time, on the thread that calls spin. It takes one value of each ready
// source in turn, so that no source starves the others.
class SingleThreadedExecutor {
public:
    // Creates an executor for nodes of the same domain as `node`, and adds `node` to it.
    static result<SingleThreadedExecutor> create(const Node &node) {
        auto wait_set = WaitSet::create(node);
        if (!wait_set) return wait_set.error();
        auto canceled = GuardCondition::create();
        if (!canceled) return canceled.error();
        SingleThreadedExecutor made(*std::move(wait_set), *std::move(canceled));
        made.add_node(node);
        return result<SingleThreadedExecutor>(std::move(made));
    }

    // Adds a node. Does nothing if the executor already has the node.
    void add_node(const Node &node) { detail::add_once(nodes_, node); }

    // Runs callbacks until the program shuts down or `cancel` is called.
    result<void> spin() {
        while (ok() && !canceled_->flag.exchange(false)) {
            auto ran = spin_once(forever);
            if (!ran) return ran.error();
        }
        return {};
    }
    // Waits until a callback is ready, and runs each ready callback once. Returns false after the timeout.
    result<bool> spin_once(std::chrono::nanoseconds timeout) {
        const detail::claim claimed(nodes_);
        if (!claimed) return detail::claim::refusal();
        collect();
        const std::unique_ptr<std::vector<std::shared_ptr<detail::callback>>, forget> kept(&living_);
        auto waited = wait_set_.wait(timeout, span<gantry_wait_source>(sources_));
        if (!waited || !*waited) return waited;
        canceled_->guard.take();
        for (const auto &node : nodes_) node.callbacks().changed().take();
        for (std::size_t i = 0; i < living_.size(); i++) {
            if (!sources_[i].is_ready) continue;
            auto ran = living_[i]->run_one();
            if (!ran) return ran.error();
        }
        return true;
    }
    // Runs the callbacks that are ready now, without waiting.
    result<void> spin_some() {
        for (;;) {
            auto ran = spin_once(std::chrono::nanoseconds(0));
            if (!ran) return ran.error();
            if (!*ran) return {};
        }
    }
    // Ends the spin of another thread or, if there is none, the next spin.
    void cancel() noexcept {
        canceled_->flag = true;
        canceled_->guard.trigger();
    }

private:
    struct cancellation {
        explicit cancellation(GuardCondition guard) noexcept : guard(std::move(guard)) {}
        std::atomic<bool> flag{false};
        GuardCondition guard;
    };

    // Releases the callbacks, even if one of them throws.
    struct forget {
        void operator()(std::vector<std::shared_ptr<detail::callback>> *living) const noexcept { living->clear(); }
    };

    SingleThreadedExecutor(WaitSet wait_set, GuardCondition canceled)
        : wait_set_(std::move(wait_set)), canceled_(std::make_unique<cancellation>(std::move(canceled))) {}

    // Collects the sources of the callbacks, followed by the guard conditions that end a wait.
    void collect() {
        living_.clear();
        sources_.clear();
        for (const auto &node : nodes_) node.callbacks().collect(living_);
        for (const auto &each : living_) sources_.push_back(each->wait_source());
        sources_.push_back(canceled_->guard.wait_source());
        for (const auto &node : nodes_) sources_.push_back(node.callbacks().changed().wait_source());
    }

    WaitSet wait_set_;
    std::unique_ptr<cancellation> canceled_;
    std::vector<Node> nodes_;
    // Keeps the callbacks alive during a wait and a run, so that no source ends meanwhile.
    std::vector<std::shared_ptr<detail::callback>> living_;
    std::vector<gantry_wait_source> sources_;
};

// Runs the callbacks of a node until the program shuts down.
inline result<void> spin(const Node &node) {
    auto executor = SingleThreadedExecutor::create(node);
    if (!executor) return executor.error();
    return executor->spin();
}

// Runs the callbacks of a node that are ready now, without waiting.
inline result<void> spin_some(const Node &node) {
    auto executor = SingleThreadedExecutor::create(node);
    if (!executor) return executor.error();
    return executor->spin_some();
}

}  // namespace gantry
