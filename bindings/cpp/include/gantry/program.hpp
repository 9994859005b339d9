// The program: init, ok, shutdown.
#pragma once

#include <gantry/result.hpp>

#include <functional>
#include <memory>

namespace gantry {

// As rclcpp::init: SIGINT and SIGTERM shut the program down in order, and nodes heed its ROS arguments. Optional.
inline result<void> init(int argc, const char *const *argv) { return detail::done(gantry_init(argc, argv)); }

// False once the program shuts down.
inline bool ok() noexcept { return gantry_ok(); }

// Ends all waits and spins of the process. False if it was shut down before.
inline bool shutdown() noexcept { return gantry_shutdown(); }

// Adds a function that the thread that shuts down calls once; it must not throw.
inline result<void> on_shutdown(std::function<void()> function) {
    auto kept = std::make_unique<std::function<void()>>(std::move(function));
    const auto call = [](void *context) noexcept {
        const std::unique_ptr<std::function<void()>> mine(static_cast<std::function<void()> *>(context));
        (*mine)();
    };
    const gantry_status status = gantry_on_shutdown(call, kept.get());
    if (status < 0) return error::last(status);
    kept.release();
    return {};
}

}  // namespace gantry
