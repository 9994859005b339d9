// Tests of content filters on rcl: messages that do not pass wake no wait, do not count as lost, and are not taken.

#include "topic.h"

#include <geometry_msgs/msg/pose_with_covariance.h>
#include <rosidl_runtime_c/string_functions.h>
#include <std_msgs/msg/string.h>

typedef geometry_msgs__msg__PoseWithCovariance Pose;

// True if a wait without time-out finds a message.
static bool is_ready(Topic *topic)
{
    OK(rcl_wait_set_clear(&topic->wait_set));
    OK(rcl_wait_set_add_subscription(&topic->wait_set, &topic->subscription, NULL));
    rcl_ret_t ended = rcl_wait(&topic->wait_set, 0);
    CHECK(ended == RCL_RET_OK || ended == RCL_RET_TIMEOUT);
    return ended == RCL_RET_OK && topic->wait_set.subscriptions[0];
}

static void publish_text(Topic *topic, const char *data)
{
    std_msgs__msg__String text;
    CHECK(std_msgs__msg__String__init(&text) && rosidl_runtime_c__String__assign(&text.data, data));
    OK(rcl_publish(&topic->publisher, &text, NULL));
    std_msgs__msg__String__fini(&text);
}

// Takes the only waiting message, and compares its text.
static void take_text(Topic *topic, const char *expected)
{
    std_msgs__msg__String text;
    CHECK(std_msgs__msg__String__init(&text));
    wait_for(topic);
    OK(rcl_take(&topic->subscription, &text, NULL, NULL));
    CHECK(strcmp(text.data.data, expected) == 0);
    CHECK(!is_ready(topic));
    CHECK(rcl_take(&topic->subscription, &text, NULL, NULL) == RCL_RET_SUBSCRIPTION_TAKE_FAILED);
    rcl_reset_error();
    std_msgs__msg__String__fini(&text);
}

static rcl_ret_t set_filter(Topic *topic, const char *expression, size_t count, const char *parameters[])
{
    rcl_subscription_content_filter_options_t options = rcl_get_zero_initialized_subscription_content_filter_options();
    OK(rcl_subscription_content_filter_options_init(&topic->subscription, expression, count, parameters, &options));
    rcl_ret_t set = rcl_subscription_set_content_filter(&topic->subscription, &options);
    rcutils_error_string_t error = rcutils_get_error_string();
    if (set != RCL_RET_OK) {
        printf("%s\n", error.str);
        rcl_reset_error();
    }
    OK(rcl_subscription_content_filter_options_fini(&topic->subscription, &options));
    return set;
}

static void filter_texts(Ros *ros)
{
    Topic topic;
    const rosidl_message_type_support_t *type = ROSIDL_GET_MSG_TYPE_SUPPORT(std_msgs, msg, String);
    open_topic(ros, &topic, type, "texts", "data LIKE 'front%'");
    CHECK(rcl_subscription_is_cft_enabled(&topic.subscription));
    publish_text(&topic, "rear");
    CHECK(!is_ready(&topic));
    publish_text(&topic, "front left");
    publish_text(&topic, "rear");
    take_text(&topic, "front left");

    const char *parameters[] = {"'rear'"};
    // A waiting message has passed the old filter, and has to pass the new filter, too.
    publish_text(&topic, "front");
    publish_text(&topic, "rear");
    OK(set_filter(&topic, "data = %0", 1, parameters));
    CHECK(!is_ready(&topic));
    publish_text(&topic, "front");
    publish_text(&topic, "rear");
    take_text(&topic, "rear");
    rcl_subscription_content_filter_options_t found = rcl_get_zero_initialized_subscription_content_filter_options();
    OK(rcl_subscription_get_content_filter(&topic.subscription, &found));
    rmw_subscription_content_filter_options_t *options = &found.rmw_subscription_content_filter_options;
    CHECK(strcmp(options->filter_expression, "data = %0") == 0);
    CHECK(options->expression_parameters.size == 1);
    CHECK(strcmp(options->expression_parameters.data[0], "'rear'") == 0);
    OK(rcl_subscription_content_filter_options_fini(&topic.subscription, &found));

    // An invalid filter does not replace the old one.
    CHECK(set_filter(&topic, "date = 'rear'", 0, NULL) == RCL_RET_ERROR);
    CHECK(set_filter(&topic, "data = %1", 1, parameters) == RCL_RET_ERROR);
    CHECK(rcl_subscription_is_cft_enabled(&topic.subscription));
    publish_text(&topic, "front");
    CHECK(!is_ready(&topic));

    OK(set_filter(&topic, "", 0, NULL));
    CHECK(!rcl_subscription_is_cft_enabled(&topic.subscription));
    CHECK(rcl_subscription_get_content_filter(&topic.subscription, &found) == RCL_RET_ERROR);
    rcl_reset_error();
    publish_text(&topic, "anything");
    take_text(&topic, "anything");
    close_topic(ros, &topic);
}

// Only messages that pass count for the depth and can be loaned.
static void filter_poses(Ros *ros)
{
    Topic topic;
    const rosidl_message_type_support_t *type = ROSIDL_GET_MSG_TYPE_SUPPORT(geometry_msgs, msg, PoseWithCovariance);
    open_topic(ros, &topic, type, "poses", NULL);
    CHECK(!rcl_subscription_is_cft_enabled(&topic.subscription));
    const char *parameters[] = {"40", "41.5"};
    OK(set_filter(&topic, "pose.position.x BETWEEN %0 AND %1 AND covariance[35] >= 0", 2, parameters));
    CHECK(rcl_subscription_is_cft_enabled(&topic.subscription));
    int passed = 0;
    for (int number = 0; number < 100; number++) {
        Pose pose = {0};
        pose.pose.position.x = number;
        OK(rcl_publish(&topic.publisher, &pose, NULL));
        if (!is_ready(&topic)) continue;
        void *loan = NULL;
        OK(rcl_take_loaned_message(&topic.subscription, &loan, NULL, NULL));
        CHECK(((Pose *)loan)->pose.position.x == number && number == 40 + passed++);
        OK(rcl_return_loaned_message_from_subscription(&topic.subscription, loan));
    }
    CHECK(passed == 2);
    // The depth is 10. Each wait filters the new messages, so messages that do not pass displace no others.
    for (int number = 0; number < 50; number++) {
        Pose pose = {0};
        pose.pose.position.x = number % 10 ? number % 10 : 41;
        OK(rcl_publish(&topic.publisher, &pose, NULL));
        CHECK(is_ready(&topic));
    }
    Pose pose;
    for (int number = 0; number < 5; number++) OK(rcl_take(&topic.subscription, &pose, NULL, NULL));
    CHECK(!is_ready(&topic));
    close_topic(ros, &topic);
}

int main(void)
{
    Ros ros;
    begin(&ros);
    filter_texts(&ros);
    filter_poses(&ros);
    end(&ros);
    printf("filtered\n");
    return 0;
}
