#include "profile.hpp"

#include <cstdlib>
#include <cstring>

namespace {

// The older and the newer name of the environment variable with the file of profiles.
constexpr const char *FILE_VARIABLES[] = {"FASTRTPS_DEFAULT_PROFILES_FILE", "FASTDDS_DEFAULT_PROFILES_FILE"};

} // namespace

void use_profile(const perf_test_run &run) {
    const char *profile = perf_test_run_setting(&run, PROFILE);
    if (profile != nullptr && std::strcmp(profile, DATA_SHARING) == 0) {
        use_data_sharing();
    }
}

void use_data_sharing() {
    for (const char *variable : FILE_VARIABLES) {
        if (std::getenv(variable) != nullptr) {
            return;
        }
    }
    for (const char *variable : FILE_VARIABLES) {
        setenv(variable, DATA_SHARING_FILE, 1);
    }
    // Without this variable, rmw_fastrtps_cpp switches data sharing off for each endpoint.
    setenv("RMW_FASTRTPS_USE_QOS_FROM_XML", "1", 0);
}
