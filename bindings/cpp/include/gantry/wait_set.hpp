// Wait sets, which wait for several sources of any kind.
#pragma once

#include <gantry/node.hpp>

namespace gantry {

// Waits for several sources at once. Only one thread may use it.
class WaitSet {
public:
    static result<WaitSet> create(const Node &node) {
        gantry_wait_set *made = nullptr;
        const gantry_status status = gantry_wait_set_create(node.raw(), &made);
        if (status < 0) return error::last(status);
        return WaitSet(made);
    }

    // Waits until one of the sources has something to take. Returns false after the timeout. After the wait, take from
    // each source.
    template <class... Sources>
    result<bool> wait(std::chrono::nanoseconds timeout, Sources &...sources) {
        gantry_wait_source list[] = {sources.wait_source()...};
        return wait(timeout, span<gantry_wait_source>(list));
    }
    // Waits for the sources in a list, and sets `is_ready` of each.
    result<bool> wait(std::chrono::nanoseconds timeout, span<gantry_wait_source> sources) {
        return detail::whether(
            gantry_wait_set_wait(handle_.get(), sources.data(), sources.size(), detail::timeout_ns(timeout)));
    }

private:
    explicit WaitSet(gantry_wait_set *handle) noexcept : handle_(handle) {}

    detail::handle<gantry_wait_set, gantry_wait_set_destroy> handle_;
};

}  // namespace gantry
