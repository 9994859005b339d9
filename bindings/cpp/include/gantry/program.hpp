// The lifetime of the program: init, ok, shutdown.
#pragma once

#include <gantry/result.hpp>

#include <functional>
#include <memory>

namespace gantry {

// Initialises the program like rclcpp::init: SIGINT and SIGTERM shut the program down in order, and nodes obey its ROS
// arguments. Programs need not call it.
inline result<void> init(int argc, const char *const *argv) { return detail::done(gantry_init(argc, argv)); }

// False after the begin of a shutdown.
inline bool ok() noexcept { return gantry_ok(); }

// Ends all waits and spins of the process. Returns false if the program was already shut down.
inline bool shutdown() noexcept { return gantry_shutdown(); }

// Adds a function that is called once at a shutdown, on the thread that shuts down. The function must not throw.
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
