// The setting `profile`: the configuration of Fast DDS, which is one file of XML for the whole process.
#pragma once

#include "perf_test_backend.h"

constexpr const char *PROFILE = "profile";
constexpr const char *DATA_SHARING = "data-sharing";
constexpr const char *PROFILES[] = {"default", DATA_SHARING, nullptr};

// Gives this process the profile of the run, before it opens the RMW. The environment's own profile has precedence, and
// another RMW than rmw_fastrtps_cpp reads none.
void use_profile(const perf_test_run &run);

// The same with the profile data-sharing.
void use_data_sharing();
