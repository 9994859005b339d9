// The RMW in effect: the middleware below rclcpp.
#pragma once

#include <string>

// Returns a text such as `rmw_cyclonedds_cpp 2.2.2`; if no RMW can be loaded, a sentence with the reason.
std::string rmw_name_and_version();
// True if the RMW can be loaded.
bool has_rmw();
// True if a loan at this address lies in memory that publishers and subscriptions share. Fast DDS also loans messages
// that its transport copies. The check is slow: call it once for each endpoint.
bool is_shared(const void *loan);
