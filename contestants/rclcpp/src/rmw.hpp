// The RMW in effect: the middleware below rclcpp.
#pragma once

#include <string>

// As `rmw_cyclonedds_cpp 2.2.2`; a sentence if there is none.
std::string rmw_name_and_version();
// Whether it can be loaded.
bool has_rmw();
// Whether a loan at this address lies in memory that publishers and subscriptions share. Fast DDS also loans messages
// that its transport copies. The check is slow: call it once for each endpoint.
bool is_shared(const void *loan);
