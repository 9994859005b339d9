// Timers and guard conditions: sources without messages.
#pragma once

#include <gantry/handle.hpp>
#include <gantry/qos.hpp>

#include <optional>

namespace gantry {

// A timer of a node. Any thread may use it.
class Timer {
public:
    explicit Timer(gantry_timer *handle) noexcept : handle_(handle) {}

    // The tick that is due, if there is one.
    result<std::optional<gantry_tick>> take() {
        auto tick = detail::sized<gantry_tick>();
        const gantry_status status = gantry_timer_take(handle_.get(), &tick);
        if (status < 0) return error::last(status);
        return status == GANTRY_OK ? std::optional(tick) : std::nullopt;
    }
    void cancel() noexcept { gantry_timer_cancel(handle_.get()); }
    void reset() noexcept { gantry_timer_reset(handle_.get()); }
    bool is_canceled() const noexcept { return gantry_timer_is_canceled(handle_.get()); }
    // The time until the next tick; no value if there will be no tick.
    std::optional<std::chrono::nanoseconds> time_until_trigger() const noexcept {
        const std::int64_t time_ns = gantry_timer_time_until_trigger(handle_.get());
        if (time_ns < 0) return std::nullopt;
        return std::chrono::nanoseconds(time_ns);
    }
    gantry_wait_source wait_source() noexcept { return {GANTRY_SOURCE_TIMER, false, handle_.get()}; }

private:
    detail::handle<gantry_timer, gantry_timer_destroy> handle_;
};

// A guard condition: a source that the program itself triggers. Any thread may use it.
class GuardCondition {
public:
    static result<GuardCondition> create() {
        gantry_guard_condition *made = nullptr;
        const gantry_status status = gantry_guard_condition_create(&made);
        if (status < 0) return error::last(status);
        return GuardCondition(made);
    }
    void trigger() const noexcept { gantry_guard_condition_trigger(handle_.get()); }
    // Whether the guard condition was triggered since the last call.
    bool take() noexcept { return gantry_guard_condition_take(handle_.get()) == GANTRY_OK; }
    // A file descriptor that is readable from a trigger to the next take. It belongs to the guard condition.
    result<int> fd() const {
        return detail::descriptor(
            [this](std::int32_t *fd) { return gantry_guard_condition_get_fd(handle_.get(), fd); });
    }
    gantry_wait_source wait_source() noexcept { return {GANTRY_SOURCE_GUARD_CONDITION, false, handle_.get()}; }

private:
    explicit GuardCondition(gantry_guard_condition *handle) noexcept : handle_(handle) {}

    detail::handle<gantry_guard_condition, gantry_guard_condition_destroy> handle_;
};

}  // namespace gantry
