// Shared by the C programs on rcl: checks that end the program, a node, and a topic with a publisher and a
// subscription.

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <rcl/rcl.h>
#include <rcl/error_handling.h>
#include <rmw/rmw.h>

#define CHECK(condition) check((condition), #condition, __LINE__)
#define OK(call) CHECK((call) == RCL_RET_OK)

static void check(bool is_true, const char *condition, int line)
{
    if (!is_true) {
        fprintf(stderr, "line %d: %s: %s\n", line, condition, rcutils_get_error_string().str);
        exit(1);
    }
}

typedef struct {
    rcl_context_t context;
    rcl_init_options_t options;
    rcl_node_t node;
    bool is_gantry;
} Ros;

static void begin(Ros *ros)
{
    ros->context = rcl_get_zero_initialized_context();
    ros->options = rcl_get_zero_initialized_init_options();
    ros->node = rcl_get_zero_initialized_node();
    OK(rcl_init_options_init(&ros->options, rcl_get_default_allocator()));
    OK(rcl_init(0, NULL, &ros->options, &ros->context));
    rcl_node_options_t options = rcl_node_get_default_options();
    OK(rcl_node_init(&ros->node, "tester", "", &ros->context, &options));
    ros->is_gantry = strcmp(rmw_get_implementation_identifier(), "rmw_gantry") == 0;
}

static void end(Ros *ros)
{
    OK(rcl_node_fini(&ros->node));
    OK(rcl_shutdown(&ros->context));
    OK(rcl_context_fini(&ros->context));
    OK(rcl_init_options_fini(&ros->options));
}

typedef struct {
    rcl_publisher_t publisher;
    rcl_subscription_t subscription;
    rcl_wait_set_t wait_set;
} Topic;

// Creates the publisher and the subscription of a topic. The subscription has a content filter if `filter` is not null.
static void open_topic(
    Ros *ros, Topic *topic, const rosidl_message_type_support_t *type, const char *name, const char *filter)
{
    topic->publisher = rcl_get_zero_initialized_publisher();
    topic->subscription = rcl_get_zero_initialized_subscription();
    topic->wait_set = rcl_get_zero_initialized_wait_set();
    rcl_publisher_options_t offered = rcl_publisher_get_default_options();
    rcl_subscription_options_t requested = rcl_subscription_get_default_options();
    OK(rcl_publisher_init(&topic->publisher, &ros->node, type, name, &offered));
    if (filter) OK(rcl_subscription_options_set_content_filter_options(filter, 0, NULL, &requested));
    OK(rcl_subscription_init(&topic->subscription, &ros->node, type, name, &requested));
    // rcl's subscription owns the filter options from here on.
    if (!filter) OK(rcl_subscription_options_fini(&requested));
    OK(rcl_wait_set_init(&topic->wait_set, 1, 1, 0, 0, 0, 0, &ros->context, rcl_get_default_allocator()));
    // The loop waits until the endpoints are matched. The graph guard condition ends each wait.
    for (size_t matched = 0; matched == 0;) {
        OK(rcl_wait_set_clear(&topic->wait_set));
        OK(rcl_wait_set_add_guard_condition(&topic->wait_set, rcl_node_get_graph_guard_condition(&ros->node), NULL));
        OK(rcl_publisher_get_subscription_count(&topic->publisher, &matched));
        if (matched == 0) {
            rcl_ret_t ended = rcl_wait(&topic->wait_set, RCL_MS_TO_NS(1000));
            CHECK(ended == RCL_RET_OK || ended == RCL_RET_TIMEOUT);
        }
    }
}

static void close_topic(Ros *ros, Topic *topic)
{
    OK(rcl_wait_set_fini(&topic->wait_set));
    OK(rcl_subscription_fini(&topic->subscription, &ros->node));
    OK(rcl_publisher_fini(&topic->publisher, &ros->node));
}

// Waits for a message.
static void wait_for(Topic *topic)
{
    OK(rcl_wait_set_clear(&topic->wait_set));
    OK(rcl_wait_set_add_subscription(&topic->wait_set, &topic->subscription, NULL));
    OK(rcl_wait(&topic->wait_set, RCL_S_TO_NS(30)));
    CHECK(topic->wait_set.subscriptions[0] == &topic->subscription);
}
