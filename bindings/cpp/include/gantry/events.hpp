// QoS events of publishers and subscriptions, and changes of the graph.
#pragma once

#include <gantry/handle.hpp>

#include <optional>

namespace gantry {

// The events of one endpoint or of the graph since this object was created. The object may outlive its endpoint.
class Events {
public:
    explicit Events(gantry_events *handle) noexcept : handle_(handle) {}

    // The next event. Its `kind` is one of the constants GANTRY_EVENT_….
    result<std::optional<gantry_event>> take() {
        auto event = detail::sized<gantry_event>();
        const gantry_status status = gantry_events_take(handle_.get(), &event);
        if (status < 0) return error::last(status);
        return status == GANTRY_OK ? std::optional(event) : std::nullopt;
    }
    // A file descriptor that is readable while there is an event.
    result<int> fd() {
        return detail::descriptor([this](std::int32_t *fd) { return gantry_events_get_fd(handle_.get(), fd); });
    }
    gantry_wait_source wait_source() noexcept { return {GANTRY_SOURCE_EVENTS, false, handle_.get()}; }

private:
    detail::handle<gantry_events, gantry_events_destroy> handle_;
};

}  // namespace gantry
