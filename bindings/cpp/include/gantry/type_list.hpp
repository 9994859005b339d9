// The types that are in use on a topic or a service.
#pragma once

#include <gantry/handle.hpp>

namespace gantry {

namespace detail {

// A list of gantry.h, which owns its elements.
template <class List, class Element, std::size_t (*Count)(const List *), const Element *(*Get)(const List *, std::size_t),
          void (*Destroy)(List *)>
class owned_list {
public:
    // `make` is a call of the function of gantry.h that makes the list.
    template <class Make>
    static result<owned_list> create(Make make) {
        List *made = nullptr;
        const gantry_status status = make(&made);
        if (status < 0) return error::last(status);
        return owned_list(made);
    }

    std::size_t size() const noexcept { return Count(list_.get()); }
    bool empty() const noexcept { return size() == 0; }
    // The element lives as long as this list. The index must be less than the size.
    const Element &operator[](std::size_t index) const noexcept { return *Get(list_.get(), index); }

private:
    explicit owned_list(List *made) noexcept : list_(made) {}

    handle<List, Destroy> list_;
};

}  // namespace detail

// Types of messages, each with its name, definition and hash. create_generic_publisher and create_generic_subscription
// take them.
using TypeList = detail::owned_list<gantry_types, gantry_type, gantry_types_count, gantry_types_get, gantry_types_destroy>;
// Types of services, each with the types of its request and response.
using ServiceTypeList = detail::owned_list<gantry_service_types, gantry_service_type, gantry_service_types_count,
                                           gantry_service_types_get, gantry_service_types_destroy>;

}  // namespace gantry
