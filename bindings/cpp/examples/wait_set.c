/* A wait set in C that waits in one loop for a timer and for messages of a topic, which are copied. Only the name of
 * the topic is known, not its type: wait_set TOPIC [MESSAGES]. */
#include <gantry.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

static void check(gantry_status status) {
    if (status < 0) {
        fprintf(stderr, "%s\n", gantry_last_error());
        exit(1);
    }
}

int main(int argc, char **argv) {
    check(gantry_init(argc, (const char *const *)argv));
    const char *topic = argc > 1 ? argv[1] : "chatter";
    long left = argc > 2 ? atol(argv[2]) : -1;
    gantry_node *node;
    check(gantry_node_create("wait_set", NULL, &node));

    gantry_types *types;
    check(gantry_node_topic_types(node, topic, &types));
    while (gantry_types_count(types) == 0 && gantry_ok()) { /* until there is a publisher */
        gantry_types_destroy(types);
        check(gantry_node_wait_for_graph_change(node, -1));
        check(gantry_node_topic_types(node, topic, &types));
    }
    const gantry_type *type = gantry_types_get(types, 0);
    if (type == NULL)
        return 0;
    printf("%s is a topic of %s\n", topic, type->name);

    gantry_subscription *subscription;
    gantry_timer *timer;
    gantry_wait_set *wait_set;
    check(gantry_subscription_create(node, topic, type, NULL, &subscription));
    check(gantry_timer_create(node, UINT64_C(1000000000), false, &timer));
    check(gantry_wait_set_create(node, &wait_set));
    gantry_wait_source sources[] = {{GANTRY_SOURCE_SUBSCRIPTION, false, subscription},
                                    {GANTRY_SOURCE_TIMER, false, timer}};
    while (left != 0 && gantry_ok()) {
        check(gantry_wait_set_wait(wait_set, sources, 2, -1));
        gantry_sample sample;
        while (left != 0 && gantry_subscription_take(subscription, &sample) == GANTRY_OK) {
            gantry_sample_info info = {.struct_size = sizeof info};
            check(gantry_sample_get_info(&sample, &info));
            printf("message %" PRIu64 ": %zu bytes\n", info.sequence, sample.size);
            gantry_sample_release(&sample);
            left -= left > 0;
        }
        gantry_tick tick = {.struct_size = sizeof tick};
        if (gantry_timer_take(timer, &tick) == GANTRY_OK)
            printf("a second passed\n");
    }
    gantry_wait_set_destroy(wait_set);
    gantry_timer_destroy(timer);
    gantry_subscription_destroy(subscription);
    gantry_types_destroy(types);
    gantry_node_destroy(node);
    return 0;
}
