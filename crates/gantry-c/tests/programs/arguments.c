/* Wrong arguments return a status and set an error text, and change nothing. */
#include "check.h"
#include <sys/wait.h>
#include <unistd.h>

#define INVALID(call, words)                                                                                          \
    do {                                                                                                              \
        CHECK((call) == GANTRY_INVALID_ARGUMENT);                                                                     \
        CHECK(error_says(words));                                                                                     \
    } while (0)

/* The struct of options as a later version of the header may have it. */
typedef struct later_qos {
    gantry_qos known;
    uint64_t unknown;
} later_qos;

/* The struct of a result as a later version of the header may have it. */
typedef struct later_counts {
    gantry_subscription_counts known;
    uint64_t unknown;
} later_counts;

static gantry_status ending = GANTRY_OK;
static int ended = 0;
static gantry_status end_loan(gantry_loan *loan) {
    ended++;
    if (ending == GANTRY_OK) memset(loan, 0, sizeof *loan);
    return ending;
}
static gantry_status end_sample(gantry_sample *sample) {
    ended++;
    if (ending == GANTRY_OK) memset(sample, 0, sizeof *sample);
    return ending;
}
static gantry_status inform(const gantry_sample *sample, gantry_sample_info *info) {
    info->sequence = sample->size;
    return ending;
}

/* The library that made a loan or a sample ends it. If that fails, this library sets an error text. */
static void other_owners(void) {
    const gantry_loan_owner loans = {.struct_size = sizeof loans, .return_loan = end_loan};
    const gantry_sample_owner samples = {.struct_size = sizeof samples, .release = end_sample, .get_info = inform};
    char bytes[8] = {0};
    gantry_loan loan = {.data = bytes, .size = 8, .owner = &loans};
    gantry_sample sample = {.data = bytes, .size = 8, .owner = &samples};
    gantry_sample_info info = {.struct_size = sizeof info};
    OK(gantry_sample_get_info(&sample, &info));
    CHECK(info.sequence == 8);
    ending = GANTRY_ERROR;
    CHECK(gantry_loan_return(&loan) == GANTRY_ERROR && strstr(gantry_last_error(), "returned no loan"));
    CHECK(gantry_sample_release(&sample) == GANTRY_ERROR && strstr(gantry_last_error(), "released no sample"));
    CHECK(gantry_sample_get_info(&sample, &info) == GANTRY_ERROR && strstr(gantry_last_error(), "information"));
    CHECK(ended == 2 && loan.data && sample.data);
    ending = GANTRY_OK;
    OK(gantry_loan_return(&loan));
    OK(gantry_sample_release(&sample));
    CHECK(ended == 4 && !loan.data && !sample.data);
}

int main(void) {
    CHECK(gantry_abi_version() == GANTRY_ABI_VERSION && strlen(gantry_version()) > 0);
    CHECK(strcmp(gantry_last_error(), "") == 0);
    gantry_node *node = (gantry_node *)&node;
    INVALID(gantry_node_create(NULL, NULL, &node), "name is NULL");
    CHECK(node == NULL);
    INVALID(gantry_node_create("eye", NULL, NULL), "node is NULL");
    INVALID(gantry_node_create("no spaces", NULL, &node), "no spaces");
    INVALID(gantry_node_create("\xff", NULL, &node), "UTF-8");
    gantry_node_options options = {.struct_size = sizeof options, .sets_domain_id = true, .domain_id = 1000};
    INVALID(gantry_node_create("eye", &options, &node), "1000");
    options = (gantry_node_options){.struct_size = sizeof options, .argument_count = 2};
    INVALID(gantry_node_create("eye", &options, &node), "arguments is NULL");
    options.struct_size = 3;
    INVALID(gantry_node_create("eye", &options, &node), "struct_size");
    CHECK(gantry_node_full_name(NULL) == NULL && error_says("node is NULL"));

    node = new_node("eye");
    gantry_type type = BYTES;
    gantry_publisher *publisher;
    gantry_subscription *subscription;
    INVALID(gantry_publisher_create(NULL, "topic", &type, NULL, NULL, &publisher), "node is NULL");
    INVALID(gantry_publisher_create(node, "to pic", &type, NULL, NULL, &publisher), "to pic");
    INVALID(gantry_publisher_create(node, "topic", NULL, NULL, NULL, &publisher), "type is NULL");
    type.name = NULL;
    INVALID(gantry_publisher_create(node, "topic", &type, NULL, NULL, &publisher), "type->name is NULL");
    type.name = "test/msg/Bytes";
    gantry_qos qos = {.struct_size = sizeof qos, .reliability = 7};
    INVALID(gantry_publisher_create(node, "topic", &type, &qos, NULL, &publisher), "reliability of a gantry_qos is 7");
    qos = (gantry_qos){.struct_size = sizeof qos, .depth = 4000000000u};
    INVALID(gantry_publisher_create(node, "topic", &type, &qos, NULL, &publisher), "4000000000");
    CHECK(publisher == NULL);

    /* An older program passes fewer fields; a newer program sets fields that this library does not have. */
    qos = (gantry_qos){.struct_size = offsetof(gantry_qos, depth), .depth = 4000000000u};
    OK(gantry_publisher_create(node, "topic", &type, &qos, NULL, &publisher));
    later_qos later = {.known = {.struct_size = sizeof later}};
    OK(gantry_subscription_create(node, "topic", &type, &later.known, &subscription));
    gantry_subscription_destroy(subscription);
    later.unknown = 1;
    INVALID(gantry_subscription_create(node, "topic", &type, &later.known, &subscription), "does not have");

    qos = (gantry_qos){.struct_size = sizeof qos, .reserved = {0, 0, 1}};
    INVALID(gantry_subscription_create(node, "topic", &type, &qos, &subscription), "does not have");

    /* An older program gets fewer fields of a result. In a newer program, the fields that this library lacks are 0. */
    OK(gantry_subscription_create(node, "topic", &type, NULL, &subscription));
    OK(gantry_publisher_publish_copy(publisher, (const uint8_t *)"x", 1, NULL));
    later_counts counts = {.known = {.struct_size = offsetof(gantry_subscription_counts, expired), .expired = 7}, .unknown = 7};
    OK(gantry_subscription_get_counts(subscription, &counts.known));
    CHECK(counts.known.received == 1 && counts.known.expired == 7 && counts.unknown == 7);
    counts.known.struct_size = sizeof counts;
    OK(gantry_subscription_get_counts(subscription, &counts.known));
    CHECK(counts.known.expired == 0 && counts.unknown == 0 && counts.known.struct_size == sizeof counts);
    counts.known.struct_size = 0;
    INVALID(gantry_subscription_get_counts(subscription, &counts.known), "gantry_subscription_counts is 0");
    gantry_subscription_destroy(subscription);

    gantry_loan loan;
    memset(&loan, 7, sizeof loan);
    INVALID(gantry_publisher_loan(NULL, 8, &loan), "publisher is NULL");
    OK(gantry_loan_return(&loan));
    INVALID(gantry_publisher_publish(publisher, &loan, NULL), "empty");
    INVALID(gantry_publisher_publish(publisher, NULL, NULL), "loan is NULL");
    INVALID(gantry_publisher_publish_copy(publisher, NULL, 1, NULL), "data is NULL");
    INVALID(gantry_publisher_publish_copy(publisher, (const uint8_t *)"x", SIZE_MAX, NULL), "negative");
    CHECK(gantry_publisher_loan(publisher, SIZE_MAX, &loan) < 0);
    OK(gantry_loan_return(&loan));

    /* A publisher refuses the loan of another publisher, and the caller still has the loan. */
    gantry_publisher *other;
    OK(gantry_publisher_create(node, "other", &type, NULL, NULL, &other));
    OK(gantry_publisher_loan(other, 8, &loan));
    memset(loan.data, 5, 8);
    INVALID(gantry_publisher_publish(publisher, &loan, NULL), "/other");
    CHECK(loan.size == 8 && ((uint8_t *)loan.data)[7] == 5);
    OK(gantry_publisher_publish(other, &loan, NULL));

    other_owners();

    /* A type whose messages all have the same length. */
    const gantry_type fixed = {sizeof fixed, "test/msg/Fixed", "float64 range", 8, {1}};
    gantry_publisher *ranges;
    OK(gantry_publisher_create(node, "ranges", &fixed, NULL, NULL, &ranges));
    INVALID(gantry_publisher_publish_copy(ranges, (const uint8_t *)"1234", 4, NULL), "exactly 8 bytes");
    gantry_timer *timer;
    INVALID(gantry_timer_create(node, 0, false, &timer), "period");
    INVALID(gantry_on_shutdown(NULL, NULL), "function is NULL");

    /* A forked child may use no handle of its parent, but may destroy them. */
    pid_t child = fork();
    if (child == 0) {
        CHECK(gantry_publisher_publish_copy(publisher, (const uint8_t *)"x", 1, NULL) == GANTRY_FORKED);
        gantry_publisher_destroy(publisher);
        gantry_node_destroy(node);
        OK(gantry_node_create("child", NULL, &node));
        gantry_node_destroy(node);
        _exit(0);
    }
    int status = 0;
    CHECK(waitpid(child, &status, 0) == child && status == 0);
    OK(gantry_publisher_publish_copy(publisher, (const uint8_t *)"x", 1, NULL));

    gantry_publisher_destroy(ranges);
    gantry_publisher_destroy(other);
    gantry_publisher_destroy(publisher);
    gantry_publisher_destroy(NULL);
    gantry_node_destroy(node);
    return 0;
}
