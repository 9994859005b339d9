// Callbacks of a node: a source and what an executor does when it is ready.
#pragma once

#include <gantry/client.hpp>
#include <gantry/service.hpp>
#include <gantry/subscription.hpp>
#include <gantry/timer.hpp>

#include <mutex>

namespace gantry::detail {

// A source with a function: an executor runs it.
class callback {
public:
    virtual ~callback() = default;
    virtual gantry_wait_source wait_source() noexcept = 0;
    // Takes one value, if there is one, and calls the user's function with it.
    virtual result<void> run_one() = 0;
};

// A source that the user keeps, with its function. `Take` takes one value from the source and calls the function.
template <class Source, class Take>
class source_callback final : public callback {
public:
    source_callback(Source source, Take take) : source(std::move(source)), take_(std::move(take)) {}

    gantry_wait_source wait_source() noexcept override { return source.wait_source(); }
    result<void> run_one() override { return take_(source); }

    Source source;

private:
    Take take_;
};

// The callbacks of a node. They live as long as their users keep them.
class callbacks {
public:
    explicit callbacks(GuardCondition changed) noexcept : changed_(std::move(changed)) {}

    // Adds a callback, and gives its source, which keeps it.
    template <class Source, class Take>
    std::shared_ptr<Source> add(Source source, Take take) {
        auto made = std::make_shared<source_callback<Source, Take>>(std::move(source), std::move(take));
        {
            const std::lock_guard<std::mutex> lock(mutex_);
            list_.push_back(made);
        }
        changed_.trigger();
        return std::shared_ptr<Source>(made, &made->source);
    }
    // Adds the living callbacks to `living`, and forgets the others.
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
    // Triggered when a callback is added.
    GuardCondition &changed() noexcept { return changed_; }

private:
    std::mutex mutex_;
    std::vector<std::weak_ptr<callback>> list_;
    GuardCondition changed_;
};

}  // namespace gantry::detail
