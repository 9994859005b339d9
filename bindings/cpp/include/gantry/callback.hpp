// Callbacks of a node: a source together with the function that an executor calls when the source is ready.
#pragma once

#include <gantry/client.hpp>
#include <gantry/service.hpp>
#include <gantry/subscription.hpp>
#include <gantry/timer.hpp>

#include <atomic>
#include <mutex>

namespace gantry {

// A group of callbacks. A MultiThreadedExecutor runs the callbacks of a group one at a time (MutuallyExclusive) or at
// the same time (Reentrant). A single callback never runs twice at the same time. Callbacks without a group are in the
// node's own group, which is MutuallyExclusive.
enum class CallbackGroupType { MutuallyExclusive, Reentrant };

class MultiThreadedExecutor;

class CallbackGroup {
public:
    explicit CallbackGroup(CallbackGroupType type) noexcept : type_(type) {}
    CallbackGroupType type() const noexcept { return type_; }

private:
    friend class MultiThreadedExecutor;
    CallbackGroupType type_;
    // The number of callbacks that run now. The lock of the executor in `executor_` guards this counter.
    std::size_t running_ = 0;
    // The executor that currently spins with this group.
    std::atomic<const MultiThreadedExecutor *> executor_{nullptr};
};

namespace detail {

// A source with a function that an executor calls.
class callback {
public:
    explicit callback(std::shared_ptr<CallbackGroup> group) noexcept : group(std::move(group)) {}
    virtual ~callback() = default;
    virtual gantry_wait_source wait_source() noexcept = 0;
    // Takes one value, if there is one, and calls the user's function with it.
    virtual result<void> run_one() = 0;

    const std::shared_ptr<CallbackGroup> group;
    // Whether a MultiThreadedExecutor runs this callback or has it in its list. The executor's lock guards this flag.
    bool is_taken = false;
};

// A source that the user owns, with its function. `Take` takes one value from the source and calls the function.
template <class Source, class Take>
class source_callback final : public callback {
public:
    source_callback(Source source, Take take, std::shared_ptr<CallbackGroup> group)
        : callback(std::move(group)), source(std::move(source)), take_(std::move(take)) {}

    gantry_wait_source wait_source() noexcept override { return source.wait_source(); }
    result<void> run_one() override { return take_(source); }

    Source source;

private:
    Take take_;
};

// The callbacks of a node. Each callback lives until the user drops its source.
class callbacks {
public:
    explicit callbacks(GuardCondition changed) noexcept : changed_(std::move(changed)) {}

    // Adds a callback. Returns its source, which keeps the callback alive.
    template <class Source, class Take>
    std::shared_ptr<Source> add(Source source, Take take, std::shared_ptr<CallbackGroup> group) {
        if (!group) group = own_group_;
        auto made = std::make_shared<source_callback<Source, Take>>(std::move(source), std::move(take), std::move(group));
        {
            const std::lock_guard<std::mutex> lock(mutex_);
            list_.push_back(made);
        }
        changed_.trigger();
        return std::shared_ptr<Source>(made, &made->source);
    }
    // Adds the living callbacks to `living`, and removes the others from the list.
    void collect(std::vector<std::shared_ptr<callback>> &living) {
        const std::lock_guard<std::mutex> lock(mutex_);
        std::size_t kept = 0;
        for (auto &weak : list_) {
            if (auto strong = weak.lock()) {
                living.push_back(std::move(strong));
                list_[kept++] = weak;
            }
        }
        list_.resize(kept);
    }
    // Claims the callbacks for an executor. Returns false if another executor has claimed them.
    bool try_claim() noexcept { return !is_claimed_.exchange(true); }
    void end_claim() noexcept { is_claimed_ = false; }
    // A guard condition that is triggered when a callback is added.
    GuardCondition &changed() noexcept { return changed_; }

private:
    std::mutex mutex_;
    std::vector<std::weak_ptr<callback>> list_;
    std::atomic<bool> is_claimed_{false};
    GuardCondition changed_;
    std::shared_ptr<CallbackGroup> own_group_ = std::make_shared<CallbackGroup>(CallbackGroupType::MutuallyExclusive);
};

}  // namespace detail

}  // namespace gantry
