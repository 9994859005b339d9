// Tests of loaned messages on rcl: a message is written and read in the same shared memory, without copies.

#include "topic.h"

#include <inttypes.h>

#include <geometry_msgs/msg/pose_with_covariance.h>
#include <rosidl_runtime_c/string_functions.h>
#include <std_msgs/msg/float64.h>
#include <std_msgs/msg/string.h>

typedef geometry_msgs__msg__PoseWithCovariance Pose;

#define COUNT 200
// True if the mapping that contains an address is shared. Also returns the permissions of the mapping, and the path of
// its file.
static bool is_shared(const void *address, char permissions[5], char path[4096])
{
    char line[8192];
    bool found = false;
    FILE *maps = fopen("/proc/self/maps", "r");
    while (maps && !found && fgets(line, sizeof line, maps)) {
        uintptr_t begin, end;
        path[0] = '\0';
        if (sscanf(line, "%" SCNxPTR "-%" SCNxPTR " %4s %*s %*s %*s %4095s", &begin, &end, permissions, path) >= 3)
            found = begin <= (uintptr_t)address && (uintptr_t)address < end;
    }
    if (maps) fclose(maps);
    return found && permissions[3] == 's';
}

static void fill(Pose *pose, double seed)
{
    pose->pose.position.x = seed;
    pose->pose.orientation.w = -seed;
    for (size_t i = 0; i < 36; i++) pose->covariance[i] = seed * 100 + (double)i;
}

static void compare(const Pose *pose, double seed)
{
    CHECK(pose->pose.position.x == seed && pose->pose.orientation.w == -seed);
    for (size_t i = 0; i < 36; i++) CHECK(pose->covariance[i] == seed * 100 + (double)i);
}

static void loan_poses(Ros *ros)
{
    Topic topic;
    const rosidl_message_type_support_t *type = ROSIDL_GET_MSG_TYPE_SUPPORT(geometry_msgs, msg, PoseWithCovariance);
    open_topic(ros, &topic, type, "poses", NULL);
    bool is_loaned = rcl_publisher_can_loan_messages(&topic.publisher);
    CHECK(!ros->is_gantry || is_loaned);
    CHECK(!ros->is_gantry || rcl_subscription_can_loan_messages(&topic.subscription));
    for (int number = 0; is_loaned && number < COUNT; number++) {
        void *written = NULL, *unused = NULL, *read = NULL;
        char permissions[5] = "", path[4096] = "";
        OK(rcl_borrow_loaned_message(&topic.publisher, type, &written));
        OK(rcl_borrow_loaned_message(&topic.publisher, type, &unused));
        fill(written, number);
        OK(rcl_return_loaned_message_from_publisher(&topic.publisher, unused));
        if (ros->is_gantry) {
            CHECK(is_shared(written, permissions, path));
            CHECK(permissions[1] == 'w');
        }
        OK(rcl_publish_loaned_message(&topic.publisher, written, NULL));
        wait_for(&topic);
        rmw_message_info_t info = rmw_get_zero_initialized_message_info();
        OK(rcl_take_loaned_message(&topic.subscription, &read, &info, NULL));
        compare(read, number);
        CHECK(info.source_timestamp > 0);
        if (ros->is_gantry) {
            CHECK(is_shared(read, permissions, path));
            CHECK(permissions[1] == '-');
            const char *directory = getenv("GANTRY_SHM_DIR");
            CHECK(!directory || strncmp(path, directory, strlen(directory)) == 0);
            CHECK(info.publication_sequence_number != RMW_MESSAGE_INFO_SEQUENCE_NUMBER_UNSUPPORTED);
        }
        OK(rcl_return_loaned_message_from_subscription(&topic.subscription, read));
    }
    close_topic(ros, &topic);
    printf("loaned %d poses\n", is_loaned ? COUNT : 0);
}

// Holds loaned messages while further ones arrive, and returns them in another order.
static void hold_poses(Ros *ros)
{
    Topic topic;
    const rosidl_message_type_support_t *type = ROSIDL_GET_MSG_TYPE_SUPPORT(geometry_msgs, msg, PoseWithCovariance);
    open_topic(ros, &topic, type, "held", NULL);
    bool is_loaned =
        rcl_publisher_can_loan_messages(&topic.publisher) && rcl_subscription_can_loan_messages(&topic.subscription);
    void *held[5] = {NULL};
    for (int number = 0; is_loaned && number < 5; number++) {
        void *written = NULL;
        OK(rcl_borrow_loaned_message(&topic.publisher, type, &written));
        fill(written, number);
        OK(rcl_publish_loaned_message(&topic.publisher, written, NULL));
        wait_for(&topic);
        OK(rcl_take_loaned_message(&topic.subscription, &held[number], NULL, NULL));
    }
    for (int number = 0; is_loaned && number < 5; number++) {
        Pose pose;
        CHECK(geometry_msgs__msg__PoseWithCovariance__init(&pose));
        fill(&pose, 100 + number);
        for (int again = 0; again < 20; again++) OK(rcl_publish(&topic.publisher, &pose, NULL));
        geometry_msgs__msg__PoseWithCovariance__fini(&pose);
        int index = (number * 3) % 5;
        compare(held[index], index);
        OK(rcl_return_loaned_message_from_subscription(&topic.subscription, held[index]));
    }
    // A message must not be returned twice.
    if (ros->is_gantry) {
        CHECK(rcl_return_loaned_message_from_subscription(&topic.subscription, held[0]) != RCL_RET_OK);
        rcl_reset_error();
    }
    close_topic(ros, &topic);
    printf("held 5 poses\n");
}

// A message without a fixed size cannot be loaned, but can be published.
static void publish_text(Ros *ros)
{
    Topic topic;
    const rosidl_message_type_support_t *type = ROSIDL_GET_MSG_TYPE_SUPPORT(std_msgs, msg, String);
    open_topic(ros, &topic, type, "texts", NULL);
    CHECK(!rcl_publisher_can_loan_messages(&topic.publisher));
    void *written = NULL;
    CHECK(rcl_borrow_loaned_message(&topic.publisher, type, &written) != RCL_RET_OK);
    rcl_reset_error();
    std_msgs__msg__String text, heard;
    CHECK(std_msgs__msg__String__init(&text) && std_msgs__msg__String__init(&heard));
    CHECK(rosidl_runtime_c__String__assign(&text.data, "Grüße"));
    OK(rcl_publish(&topic.publisher, &text, NULL));
    wait_for(&topic);
    OK(rcl_take(&topic.subscription, &heard, NULL, NULL));
    CHECK(strcmp(heard.data.data, "Grüße") == 0);
    CHECK(rcl_take(&topic.subscription, &heard, NULL, NULL) == RCL_RET_SUBSCRIPTION_TAKE_FAILED);
    rcl_reset_error();
    std_msgs__msg__String__fini(&text);
    std_msgs__msg__String__fini(&heard);
    close_topic(ros, &topic);
    printf("published a text\n");
}

// Each wait ends because of the entity that is ready, and marks only this entity as ready.
static void wait_set(Ros *ros)
{
    Topic topic;
    open_topic(ros, &topic, ROSIDL_GET_MSG_TYPE_SUPPORT(std_msgs, msg, Float64), "numbers", NULL);
    rcl_guard_condition_t guard = rcl_get_zero_initialized_guard_condition();
    OK(rcl_guard_condition_init(&guard, &ros->context, rcl_guard_condition_get_default_options()));
    for (int round = 0; round < 4; round++) {
        std_msgs__msg__Float64 number = {round};
        if (round % 2) OK(rcl_trigger_guard_condition(&guard));
        if (round / 2) OK(rcl_publish(&topic.publisher, &number, NULL));
        OK(rcl_wait_set_clear(&topic.wait_set));
        OK(rcl_wait_set_add_subscription(&topic.wait_set, &topic.subscription, NULL));
        OK(rcl_wait_set_add_guard_condition(&topic.wait_set, &guard, NULL));
        rcl_ret_t ended = rcl_wait(&topic.wait_set, round ? RCL_S_TO_NS(30) : 0);
        CHECK(ended == (round ? RCL_RET_OK : RCL_RET_TIMEOUT));
        CHECK((topic.wait_set.guard_conditions[0] != NULL) == round % 2);
        // With another middleware, the message may arrive after the guard condition has ended the wait.
        CHECK(!ros->is_gantry || (topic.wait_set.subscriptions[0] != NULL) == round / 2);
        if (round / 2) {
            if (!ros->is_gantry) wait_for(&topic);
            OK(rcl_take(&topic.subscription, &number, NULL, NULL));
            CHECK(number.data == round);
        }
    }
    OK(rcl_guard_condition_fini(&guard));
    close_topic(ros, &topic);
    printf("waited\n");
}

int main(int argc, char **argv)
{
    // A deliberate leak, which proves that the leak sanitizer works.
    if (argc > 1 && strcmp(argv[1], "leak") == 0) {
        void *volatile lost = malloc(100);
        lost = NULL;
        return lost != NULL;
    }
    // The second pass shows whether the first one left anything behind.
    for (int time = 0; time < 2; time++) {
        Ros ros;
        begin(&ros);
        if (time == 0) printf("%s\n", rmw_get_implementation_identifier());
        loan_poses(&ros);
        hold_poses(&ros);
        publish_text(&ros);
        wait_set(&ros);
        end(&ros);
    }
    return 0;
}
