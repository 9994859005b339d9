#include "rmw.hpp"

#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <sstream>

#include "rcutils/error_handling.h"
#include "rmw/rmw.h"

// Returns the version in the installed manifest of the package; empty if there is none.
static std::string version_of(const std::string &package) {
    const char *prefixes = std::getenv("AMENT_PREFIX_PATH");
    std::istringstream list(prefixes == nullptr ? "" : prefixes);
    for (std::string prefix; std::getline(list, prefix, ':');) {
        std::ifstream file(prefix + "/share/" + package + "/package.xml");
        const std::string text{std::istreambuf_iterator<char>(file), {}};
        const auto begin = text.find("<version");
        const auto open = text.find('>', begin);
        const auto close = text.find("</version>", begin);
        if (begin != std::string::npos && open < close && close != std::string::npos) {
            return text.substr(open + 1, close - open - 1);
        }
    }
    return "";
}

static const char *identifier() {
    const char *name = rmw_get_implementation_identifier();
    rcutils_reset_error();
    return name;
}

// True if an address lies in the memory of Fast DDS's data sharing.
static bool is_in_data_sharing(const void *address) {
    std::ifstream mappings("/proc/self/maps");
    for (std::string line; std::getline(mappings, line);) {
        if (line.find("/fast_datasharing_") == std::string::npos) {
            continue;
        }
        std::istringstream range(line);
        std::uintptr_t start = 0, end = 0;
        char dash = 0;
        const auto wanted = reinterpret_cast<std::uintptr_t>(address);
        if (range >> std::hex >> start >> dash >> end && start <= wanted && wanted < end) {
            return true;
        }
    }
    return false;
}

bool is_shared(const void *loan) {
    const char *name = identifier();
    const bool is_fast_dds = name != nullptr && std::string(name).rfind("rmw_fastrtps", 0) == 0;
    return !is_fast_dds || is_in_data_sharing(loan);
}

bool has_rmw() { return identifier() != nullptr; }

std::string rmw_name_and_version() {
    const char *name = identifier();
    if (name == nullptr) {
        return "there is no RMW: run `source /opt/ros/DISTRIBUTION/setup.bash`, and set RMW_IMPLEMENTATION to an "
               "installed one";
    }
    const std::string version = version_of(name);
    return version.empty() ? name : name + (" " + version);
}
