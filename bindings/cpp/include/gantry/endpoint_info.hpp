// The publishers and subscriptions of a topic, in this process and in others.
#pragma once

#include <gantry/handle.hpp>

#include <algorithm>
#include <array>

namespace gantry {

struct TopicEndpointInfo {
    // The full name of the node, such as "/left/camera".
    std::string node_name;
    std::string topic_name;
    std::string topic_type;
    // The program and its pid.
    std::string process;
    gantry_qos qos_profile;
    std::array<std::uint8_t, 32> topic_type_hash;
    gantry_gid endpoint_gid;
    // The number of messages that the endpoint copied instead of using loans.
    std::uint64_t copied_messages;
};

namespace detail {

inline result<std::vector<TopicEndpointInfo>> endpoints_info(const gantry_node *node, const std::string &topic,
                                                             std::int32_t kind) {
    gantry_endpoints *made = nullptr;
    const gantry_status status = gantry_node_endpoints_info(node, topic.c_str(), &made);
    if (status < 0) return error::last(status);
    const handle<gantry_endpoints, gantry_endpoints_destroy> list(made);
    std::vector<TopicEndpointInfo> found;
    for (std::size_t i = 0; i < gantry_endpoints_count(made); i++) {
        const gantry_endpoint_info &raw = *gantry_endpoints_get(made, i);
        if (raw.kind != kind) continue;
        TopicEndpointInfo info{raw.node, raw.topic, raw.type_name, raw.process, *raw.qos, {}, raw.gid, raw.copied_messages};
        std::copy(std::begin(raw.type_hash), std::end(raw.type_hash), info.topic_type_hash.begin());
        found.push_back(std::move(info));
    }
    return result<std::vector<TopicEndpointInfo>>(std::move(found));
}

}  // namespace detail

}  // namespace gantry
