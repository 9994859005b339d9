/* Loaned and copied messages reach the subscription with the right bytes, sequence numbers and times. */
#include "check.h"

int main(void) {
    gantry_type type = BYTES;
    gantry_node *node = new_node("talker");
    CHECK(strcmp(gantry_node_full_name(node), "/talker") == 0);
    gantry_publisher *publisher;
    gantry_subscription *subscription;
    OK(gantry_publisher_create(node, "chatter", &type, NULL, NULL, &publisher));
    OK(gantry_subscription_create(node, "chatter", &type, NULL, &subscription));
    CHECK(strcmp(gantry_publisher_topic(publisher), "/chatter") == 0);
    CHECK(strcmp(gantry_subscription_topic(subscription), "/chatter") == 0);
    OK(gantry_publisher_wait_for_subscriptions(publisher, 1, PATIENCE));
    OK(gantry_subscription_wait_for_publishers(subscription, 1, PATIENCE));

    gantry_sample sample = {0};
    CHECK(gantry_subscription_take(subscription, &sample) == GANTRY_NONE && sample.data == NULL);
    CHECK(gantry_subscription_wait(subscription, 0) == GANTRY_TIMEOUT);

    /* Sizes of a message in a slot, of an inline message (in a ring entry), and of an empty message. */
    const size_t sizes[] = {1 << 20, 100, 0};
    for (size_t i = 0; i < 3; i++) {
        gantry_loan loan;
        uint64_t sequence = 0;
        OK(gantry_publisher_loan(publisher, sizes[i], &loan));
        CHECK(loan.size == sizes[i] && (uintptr_t)loan.data % 8 == 0);
        memset(loan.data, (int)i + 1, loan.size);
        OK(gantry_publisher_publish(publisher, &loan, &sequence));
        CHECK(sequence == i + 1 && loan.data == NULL);
        CHECK(gantry_publisher_publish(publisher, &loan, NULL) == GANTRY_INVALID_ARGUMENT && error_says("empty"));

        OK(gantry_subscription_wait(subscription, PATIENCE));
        OK(gantry_subscription_take(subscription, &sample));
        CHECK(sample.size == sizes[i] && sample.data != NULL && (uintptr_t)sample.data % 8 == 0);
        for (size_t at = 0; at < sample.size; at++)
            CHECK(((const uint8_t *)sample.data)[at] == i + 1);
        gantry_sample_info info = {.struct_size = sizeof info};
        gantry_gid gid;
        OK(gantry_sample_get_info(&sample, &info));
        OK(gantry_publisher_get_gid(publisher, &gid));
        CHECK(info.sequence == i + 1 && info.origin_sequence == i + 1 && info.source_time_ns > 0);
        CHECK(memcmp(&info.publisher_gid, &gid, sizeof gid) == 0 && memcmp(&info.origin_gid, &gid, sizeof gid) == 0);
        gantry_sample moved = sample;
        OK(gantry_sample_release(&moved));
        OK(gantry_sample_release(&moved));
        CHECK(moved.data == NULL && gantry_sample_get_info(&moved, &info) == GANTRY_INVALID_ARGUMENT);
    }

    OK(gantry_publisher_publish_copy(publisher, (const uint8_t *)"copied", 6, NULL));
    gantry_loan loan;
    OK(gantry_publisher_loan(publisher, 8, &loan));
    memcpy(loan.data, "12345678", 8);
    const gantry_source_time time = {5, 7};
    OK(gantry_publisher_publish_at(publisher, &loan, time, NULL));
    OK(gantry_subscription_take(subscription, &sample));
    CHECK(sample.size == 6 && memcmp(sample.data, "copied", 6) == 0);
    OK(gantry_sample_release(&sample));
    OK(gantry_subscription_take(subscription, &sample));
    gantry_sample_info info = {.struct_size = sizeof info};
    OK(gantry_sample_get_info(&sample, &info));
    CHECK(info.source_time_ns == 5 && info.source_wall_time_ns == 7);
    OK(gantry_subscription_skip_malformed(subscription, &sample, "the test says so"));
    OK(gantry_sample_release(&sample));

    gantry_subscription_counts counts = {.struct_size = sizeof counts};
    OK(gantry_subscription_get_counts(subscription, &counts));
    CHECK(counts.received == 5 && counts.malformed == 1 && counts.overwritten == 0 && counts.expired == 0);
    size_t publishers = 0, subscriptions = 0;
    OK(gantry_node_count_endpoints(node, "chatter", &publishers, &subscriptions));
    CHECK(publishers == 1 && subscriptions == 1);

    gantry_publisher *clone;
    OK(gantry_publisher_clone(publisher, &clone));
    OK(gantry_publisher_publish_copy(clone, (const uint8_t *)"x", 1, NULL));
    OK(gantry_subscription_wait(subscription, PATIENCE));

    /* With depth 2, the oldest samples are overwritten and counted. */
    gantry_qos qos = {.struct_size = sizeof qos, .depth = 2};
    gantry_subscription *shallow;
    OK(gantry_subscription_create(node, "chatter", &type, &qos, &shallow));
    for (int i = 0; i < 5; i++)
        OK(gantry_publisher_publish_copy(publisher, (const uint8_t *)&i, sizeof i, NULL));
    OK(gantry_subscription_get_counts(shallow, &counts));
    int seen = 0;
    while (gantry_subscription_take(shallow, &sample) == GANTRY_OK) {
        seen++;
        OK(gantry_sample_release(&sample));
    }
    OK(gantry_subscription_get_counts(shallow, &counts));
    CHECK(seen == 2 && counts.received == 5 && counts.overwritten == 3);

    gantry_subscription_destroy(shallow);
    gantry_publisher_destroy(clone);
    gantry_publisher_destroy(publisher);
    gantry_subscription_destroy(subscription);
    gantry_node_destroy(node);
    return 0;
}
