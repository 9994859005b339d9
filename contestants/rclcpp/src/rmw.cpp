#include "rmw.hpp"

#include <cstdlib>
#include <fstream>
#include <iterator>
#include <sstream>

#include "rcutils/error_handling.h"
#include "rmw/rmw.h"

// The version in the manifest that the package has installed; empty: not found.
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
