// Access to the functions of the rmw_gantry library in this process.
#pragma once

#include <gantry/result.hpp>
#include <rmw_gantry.h>

#include <rcutils/error_handling.h>

#include <dlfcn.h>

#include <string_view>

namespace gantry::detail {

// The error of the last rmw function on this thread.
inline error rmw_error() {
    error why{GANTRY_ERROR, rcutils_get_error_string().str};
    rcutils_reset_error();
    return why;
}

// The functions of the RMW implementation that an endpoint uses. `identifier` is the endpoint's implementation
// identifier, a text in that library's memory.
inline result<const rmw_gantry_functions *> in_place_functions(const char *identifier) {
    if (std::string_view(identifier) != "rmw_gantry")
        return error{GANTRY_INVALID_ARGUMENT, std::string("the node runs over ") + identifier +
                                                  ", which has no messages in place: set RMW_IMPLEMENTATION=rmw_gantry"};
    Dl_info found = {};
    if (dladdr(identifier, &found) == 0) return error{GANTRY_ERROR, "the library of rmw_gantry was not found in this process"};
    // The library is never closed, because its functions end samples and loans, perhaps after rcl has closed it.
    void *library = dlopen(found.dli_fname, RTLD_LAZY | RTLD_NOLOAD);
    void *function = library ? dlsym(library, "rmw_gantry_in_place") : nullptr;
    if (!function)
        return error{GANTRY_ERROR, std::string(found.dli_fname) +
                                       " has no function rmw_gantry_in_place: it is older than gantry_rclcpp; build it again"};
    const auto *functions = reinterpret_cast<decltype(&rmw_gantry_in_place)>(function)();
    if (functions->struct_size < sizeof *functions)
        return error{GANTRY_ERROR, std::string(found.dli_fname) + " is older than gantry_rclcpp; build it again"};
    return functions;
}

}  // namespace gantry::detail
