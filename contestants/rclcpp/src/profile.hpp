// The setting `profile`: the configuration of Fast DDS, which is one XML file for the whole process.
#pragma once

#include "perf_test_backend.h"

constexpr const char *PROFILE = "profile";
constexpr const char *DATA_SHARING = "data-sharing";
constexpr const char *PROFILES[] = {"default", DATA_SHARING, nullptr};

// Applies the profile of the run to this process; must be called before the RMW is opened. A profile that the
// environment names has precedence. RMWs other than rmw_fastrtps_cpp read no profile.
void use_profile(const perf_test_run &run);

// Applies the profile data-sharing to this process.
void use_data_sharing();
