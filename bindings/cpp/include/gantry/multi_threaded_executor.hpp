// The executor that runs callbacks on several threads.
#pragma once

#include <gantry/claim.hpp>
#include <gantry/program.hpp>
#include <gantry/wait_set.hpp>

#include <algorithm>
#include <condition_variable>
#include <deque>
#include <string>
#include <system_error>
#include <thread>

namespace gantry {

// Runs the callbacks of its nodes on several threads, as far as their callback groups allow. One thread at a time waits
// for all callbacks that may run and puts the ready ones into a list. The other threads run the callbacks in this list.
//
// A source with a callback belongs to the callback's group. Callbacks of other groups and other threads of the program
// must not use this subscription, service or client, because a thread of the executor may be waiting for it. A callback
// that throws ends the program.
//
// Invariant: no thread uses a source while another thread waits for it. A wait therefore excludes callbacks that are
// taken, and callbacks of groups that are busy.
class MultiThreadedExecutor {
public:
    // Creates an executor for nodes of the same domain as `node`. 0 threads means as many as the machine has
    // processors.
    static result<std::unique_ptr<MultiThreadedExecutor>> create(const Node &node, std::size_t threads = 0) {
        auto wait_set = WaitSet::create(node);
        if (!wait_set) return wait_set.error();
        auto interrupt = GuardCondition::create();
        if (!interrupt) return interrupt.error();
        if (threads == 0) threads = std::max(1u, std::thread::hardware_concurrency());
        std::unique_ptr<MultiThreadedExecutor> made(
            new MultiThreadedExecutor(*std::move(wait_set), *std::move(interrupt), threads));
        made->add_node(node);
        return result<std::unique_ptr<MultiThreadedExecutor>>(std::move(made));
    }

    // Adds a node. Does nothing if the executor already has the node. Must not be called during a spin.
    void add_node(const Node &node) { detail::add_once(nodes_, node); }
    std::size_t get_number_of_threads() const noexcept { return threads_; }

    // Runs callbacks until the program shuts down, `cancel` is called, or a callback fails.
    result<void> spin() {
        const detail::claim claimed(nodes_);
        if (!claimed) return detail::claim::refusal();
        std::vector<std::thread> others;
        start(others);
        work();
        for (auto &other : others) other.join();
        // `left` is destroyed after the lock is released, because the destructors of the users' functions may run any
        // code.
        std::deque<callback_pointer> left;
        const std::lock_guard<std::mutex> lock(mutex_);
        left.swap(ready_);
        for (const auto &each : left) each->is_taken = false;
        for (const auto &group : groups_) group->executor_ = nullptr;
        groups_.clear();
        is_canceled_ = false;
        const auto failed = std::exchange(failure_, std::nullopt);
        if (failed) return *failed;
        return {};
    }
    // Ends the spin of another thread or, if there is none, the next spin.
    void cancel() noexcept {
        {
            const std::lock_guard<std::mutex> lock(mutex_);
            is_canceled_ = true;
        }
        interrupt_.trigger();
        news_.notify_all();
    }

private:
    MultiThreadedExecutor(WaitSet wait_set, GuardCondition interrupt, std::size_t threads) noexcept
        : threads_(threads), wait_set_(std::move(wait_set)), interrupt_(std::move(interrupt)) {}

    using callback_pointer = std::shared_ptr<detail::callback>;

    // Starts the other threads. If a thread cannot be started, the spin ends with an error.
    void start(std::vector<std::thread> &others) {
#if GANTRY_HAS_EXCEPTIONS
        try {
#endif
            others.reserve(threads_ - 1);
            for (std::size_t i = 1; i < threads_; i++) others.emplace_back([this] { work(); });
#if GANTRY_HAS_EXCEPTIONS
        } catch (const std::system_error &why) {
            const std::lock_guard<std::mutex> lock(mutex_);
            fail({GANTRY_ERROR, "the executor got " + std::to_string(others.size() + 1) + " of its " + std::to_string(threads_) +
                                    " threads: " + why.what() + "; create it with fewer threads"});
        }
#endif
    }

    // Stores the first failure, which ends the spin. The caller must hold the lock.
    void fail(error why) {
        if (!failure_) failure_ = std::move(why);
        is_canceled_ = true;
    }

    // Claims a group for this executor. Returns false if another executor spins with the group, because its counter is
    // then guarded by the other executor's lock.
    bool claim_group(const std::shared_ptr<CallbackGroup> &group) {
        const MultiThreadedExecutor *owner = nullptr;
        if (!group->executor_.compare_exchange_strong(owner, this)) return owner == this;
        groups_.push_back(group);
        return true;
    }

    // The main function of each thread. It is noexcept, so a callback that throws ends the program.
    void work() noexcept {
        std::unique_lock<std::mutex> lock(mutex_);
        while (!is_canceled_ && ok()) {
            if (auto next = take_ready())
                run(std::move(next), lock);
            else if (!is_waiting_)
                wait(lock);
            else
                news_.wait(lock);
        }
        lock.unlock();
        interrupt_.trigger();
        news_.notify_all();
    }

    static bool is_busy(const CallbackGroup &group) noexcept {
        return group.type_ == CallbackGroupType::MutuallyExclusive && group.running_ > 0;
    }

    // Removes and returns the first callback in the list whose group is not busy.
    callback_pointer take_ready() {
        for (auto each = ready_.begin(); each != ready_.end(); ++each) {
            if (is_busy(*(*each)->group)) continue;
            auto taken = std::move(*each);
            ready_.erase(each);
            return taken;
        }
        return nullptr;
    }

    void run(callback_pointer next, std::unique_lock<std::mutex> &lock) {
        next->group->running_++;
        if (!ready_.empty() || !is_waiting_) news_.notify_one();
        lock.unlock();
        auto ran = next->run_one();
        lock.lock();
        next->group->running_--;
        next->is_taken = false;
        if (!ran) fail(ran.error());
        // The present wait excludes this callback and its group, so the waiting thread must start a new wait.
        if (is_waiting_) interrupt_.trigger();
        news_.notify_one();
        lock.unlock();
        next.reset();  // may destroy the source
        lock.lock();
    }

    // Waits for the callbacks that may run, and adds the ready ones to the list.
    void wait(std::unique_lock<std::mutex> &lock) {
        is_waiting_ = true;
        std::vector<callback_pointer> living, waited_for;
        for (const auto &node : nodes_) node.callbacks().collect(living);
        std::vector<gantry_wait_source> sources;
        for (const auto &each : living) {
            if (!claim_group(each->group)) {
                fail({GANTRY_INVALID_ARGUMENT,
                      "another executor spins with a callback group of this one: give each executor groups of its own"});
                continue;
            }
            if (each->is_taken || is_busy(*each->group)) continue;
            waited_for.push_back(each);
            sources.push_back(each->wait_source());
        }
        sources.push_back(interrupt_.wait_source());
        for (const auto &node : nodes_) sources.push_back(node.callbacks().changed().wait_source());
        // Removes groups that no callback uses any more.
        groups_.erase(std::remove_if(groups_.begin(), groups_.end(), [](const auto &group) { return group.use_count() == 1; }),
                      groups_.end());
        const auto timeout = is_canceled_ ? std::chrono::nanoseconds(0) : std::chrono::nanoseconds(forever);
        lock.unlock();
        auto waited = wait_set_.wait(timeout, span<gantry_wait_source>(sources));
        interrupt_.take();
        for (const auto &node : nodes_) node.callbacks().changed().take();
        living.clear();
        lock.lock();
        is_waiting_ = false;
        if (!waited) fail(waited.error());
        for (std::size_t i = 0; i < waited_for.size(); i++) {
            if (!sources[i].is_ready) continue;
            waited_for[i]->is_taken = true;
            ready_.push_back(std::move(waited_for[i]));
        }
        news_.notify_one();
        lock.unlock();
        waited_for.clear();  // may destroy sources
        lock.lock();
    }

    std::size_t threads_;
    WaitSet wait_set_;
    GuardCondition interrupt_;
    std::vector<Node> nodes_;
    std::mutex mutex_;
    std::condition_variable news_;
    // The lock `mutex_` guards all members below.
    std::deque<callback_pointer> ready_;
    std::vector<std::shared_ptr<CallbackGroup>> groups_;
    bool is_waiting_ = false;
    bool is_canceled_ = false;
    std::optional<error> failure_;
};

}  // namespace gantry
