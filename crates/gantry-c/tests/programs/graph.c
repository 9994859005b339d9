/* Tests of the graph, and of the error texts and events for endpoints that do not match. */
#include "check.h"

static int has(gantry_strings *list, const char *text) {
    int found = 0;
    for (size_t i = 0; i < gantry_strings_count(list); i++)
        found |= strcmp(gantry_strings_get(list, i), text) == 0;
    CHECK(gantry_strings_get(list, gantry_strings_count(list)) == NULL);
    gantry_strings_destroy(list);
    return found;
}

static gantry_event next_of_kind(gantry_events *events, int32_t kind) {
    gantry_event event = {.struct_size = sizeof event};
    do {
        OK(gantry_events_take(events, &event));
    } while (event.kind != kind);
    return event;
}

int main(void) {
    const char *const arguments[] = {"--ros-args", "-r", "scan:=laser"};
    const gantry_node_options options = {
        .struct_size = sizeof options, .name_space = "/left", .arguments = arguments, .argument_count = 3};
    gantry_node *node;
    OK(gantry_node_create("eye", &options, &node));
    CHECK(strcmp(gantry_node_full_name(node), "/left/eye") == 0);
    uint64_t now = 0;
    OK(gantry_node_now(node, &now));
    CHECK(now > UINT64_C(1700000000000000000));
    gantry_strings *list;
    OK(gantry_node_resolve_topic_name(node, "scan", &list));
    CHECK(has(list, "/left/laser"));
    OK(gantry_node_node_names(node, &list));
    CHECK(has(list, "/left/eye"));

    gantry_events *changes;
    OK(gantry_node_graph_events(node, &changes));
    gantry_event event = {.struct_size = sizeof event};
    CHECK(gantry_events_take(changes, &event) == GANTRY_NONE);
    const gantry_type type = {sizeof type, "test/msg/Scan", "float64 range", 8, {1, 2, 3}};
    const gantry_qos best_effort = {.struct_size = sizeof best_effort,
                                    .reliability = GANTRY_RELIABILITY_BEST_EFFORT,
                                    .depth = 3,
                                    .deadline_ns = 1000000};
    gantry_publisher *publisher;
    OK(gantry_publisher_create(node, "scan", &type, &best_effort, NULL, &publisher));
    OK(gantry_events_take(changes, &event));
    CHECK(event.kind == GANTRY_EVENT_GRAPH_CHANGED);
    OK(gantry_node_topic_names_and_types(node, &list));
    CHECK(has(list, "/left/laser"));
    OK(gantry_node_topic_names_and_types(node, &list));
    CHECK(has(list, "test/msg/Scan"));

    gantry_types *types;
    OK(gantry_node_topic_types(node, "scan", &types));
    CHECK(gantry_types_count(types) == 1 && gantry_types_get(types, 1) == NULL);
    const gantry_type *found = gantry_types_get(types, 0);
    CHECK(found->struct_size == sizeof type && memcmp(found->hash, type.hash, 32) == 0 && found->max_bytes == 8);
    CHECK(strcmp(found->name, type.name) == 0 && strcmp(found->definition, type.definition) == 0);
    gantry_subscription *same;
    OK(gantry_subscription_create(node, "scan", found, &best_effort, &same));
    gantry_types_destroy(types);
    OK(gantry_subscription_wait_for_publishers(same, 1, PATIENCE));

    gantry_endpoints *endpoints;
    OK(gantry_node_endpoints_info(node, "scan", &endpoints));
    CHECK(gantry_endpoints_count(endpoints) == 2);
    const gantry_endpoint_info *info = gantry_endpoints_get(endpoints, 0);
    CHECK(info->kind == GANTRY_ENDPOINT_PUBLISHER && info->qos->reliability == GANTRY_RELIABILITY_BEST_EFFORT);
    CHECK(info->qos->depth == 3 && info->qos->deadline_ns == 1000000 && strcmp(info->node, "/left/eye") == 0);
    gantry_gid gid;
    OK(gantry_publisher_get_gid(publisher, &gid));
    CHECK(memcmp(&gid, &info->gid, sizeof gid) == 0 && strlen(info->process) > 0);
    CHECK(gantry_endpoints_get(endpoints, 1)->kind == GANTRY_ENDPOINT_SUBSCRIPTION);
    gantry_endpoints_destroy(endpoints);

    /* Incompatible QoS, a different type, and a missed deadline. */
    gantry_subscription *reliable, *other;
    gantry_events *events;
    OK(gantry_subscription_create(node, "scan", &type, NULL, &reliable));
    OK(gantry_subscription_events(reliable, &events));
    event = next_of_kind(events, GANTRY_EVENT_INCOMPATIBLE_QOS);
    CHECK(event.total_count == 1 && event.last_policy == GANTRY_POLICY_RELIABILITY);
    CHECK(gantry_subscription_wait(reliable, 0) == GANTRY_INCOMPATIBLE_QOS && error_says("RELIABLE"));
    OK(gantry_subscription_mismatches(reliable, &list));
    CHECK(gantry_strings_count(list) == 1);
    gantry_strings_destroy(list);
    gantry_events_destroy(events);
    const gantry_type changed = {sizeof type, "test/msg/Scan", "float32 range", 4, {9}};
    OK(gantry_subscription_create(node, "scan", &changed, &best_effort, &other));
    CHECK(gantry_subscription_wait(other, 0) == GANTRY_TYPE_MISMATCH);
    OK(gantry_publisher_events(publisher, &events));
    event = next_of_kind(events, GANTRY_EVENT_MATCHED);
    CHECK(event.current_count == 1);
    gantry_wait_set *wait_set;
    OK(gantry_wait_set_create(node, &wait_set));
    gantry_wait_source source = {GANTRY_SOURCE_EVENTS, false, events};
    do {
        OK(gantry_wait_set_wait(wait_set, &source, 1, PATIENCE));
        while (gantry_events_take(events, &event) == GANTRY_OK && event.kind != GANTRY_EVENT_DEADLINE_MISSED)
            ;
    } while (event.kind != GANTRY_EVENT_DEADLINE_MISSED);
    CHECK(event.total_count > 0);

    gantry_wait_set_destroy(wait_set);
    gantry_events_destroy(events);
    gantry_events_destroy(changes);
    gantry_subscription_destroy(reliable);
    gantry_subscription_destroy(other);
    gantry_subscription_destroy(same);
    gantry_publisher_destroy(publisher);
    gantry_node_destroy(node);
    return 0;
}
