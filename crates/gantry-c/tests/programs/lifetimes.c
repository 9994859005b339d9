/* Creates, uses, moves and destroys handles, loans and samples in random order. A node or an endpoint may be destroyed
 * before or after the objects made from it. The bytes of a held sample must not change. */
#include "check.h"

#define PLACES 12

static uint64_t state;

static uint64_t random_below(uint64_t limit) {
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return state % limit;
}

static gantry_node *nodes[PLACES];
static gantry_publisher *publishers[PLACES];
static gantry_subscription *subscriptions[PLACES];
static gantry_loan loans[PLACES];
static gantry_sample samples[PLACES];
static uint64_t expected[PLACES];
static gantry_service *services[PLACES];
static gantry_client *clients[PLACES];
static gantry_events *events[PLACES];
static gantry_wait_set *wait_sets[PLACES];
static gantry_timer *timers[PLACES];
static gantry_guard_condition *guards[PLACES];
static gantry_parameter_callback *callbacks[PLACES];

static const gantry_type type = BYTES;
static const gantry_service_type service_type = {sizeof service_type, "test/srv/Any", &type, &type};
static const char *const topics[] = {"a", "b", "c"};

/* Fills all bytes of a message with the lowest byte of its length. */
static void fill(gantry_loan *loan) { memset(loan->data, (int)(loan->size & 0xff), loan->size); }

static void check_bytes(const gantry_sample *sample) {
    const uint8_t *bytes = sample->data;
    for (size_t at = 0; at < sample->size; at++)
        CHECK(bytes[at] == (sample->size & 0xff));
}

static void messages(size_t i, size_t j) {
    switch (random_below(8)) {
    case 0:
        OK(gantry_loan_return(&loans[j]));
        if (publishers[i]) {
            OK(gantry_publisher_loan(publishers[i], random_below(8000), &loans[j]));
            fill(&loans[j]);
        }
        break;
    case 1: /* a loan of another or a destroyed publisher is refused and kept */
        if (publishers[i] && loans[j].data) {
            gantry_status status = gantry_publisher_publish(publishers[i], &loans[j], NULL);
            CHECK(status == GANTRY_OK ? !loans[j].data : status == GANTRY_INVALID_ARGUMENT && loans[j].data);
        }
        break;
    case 2: /* moves the loan to another struct */
        if (!loans[i].data) {
            loans[i] = loans[j];
            memset(&loans[j], 0, sizeof loans[j]);
        }
        break;
    case 3:
    case 4:
        if (subscriptions[i]) {
            OK(gantry_sample_release(&samples[j]));
            if (gantry_subscription_take(subscriptions[i], &samples[j]) == GANTRY_OK)
                expected[j] = samples[j].size;
        }
        break;
    case 5: /* sends a request, and answers all requests that arrived */
        if (clients[i])
            (void)gantry_client_send_request_copy(clients[i], (const uint8_t *)"\1", 1, NULL);
        if (services[j]) {
            gantry_sample request;
            gantry_request_id id;
            while (gantry_service_take_request(services[j], &request, &id) == GANTRY_OK) {
                OK(gantry_service_send_response_copy(services[j], id, request.data, request.size));
                OK(gantry_sample_release(&request));
            }
        }
        break;
    case 6:
        if (clients[i]) {
            OK(gantry_sample_release(&samples[j]));
            if (gantry_client_take_response(clients[i], &samples[j], NULL) == GANTRY_OK)
                expected[j] = samples[j].size;
        }
        break;
    default:
        if (wait_sets[i]) {
            gantry_wait_source sources[4];
            size_t count = 0;
            if (subscriptions[j])
                sources[count++] = (gantry_wait_source){GANTRY_SOURCE_SUBSCRIPTION, false, subscriptions[j]};
            if (events[i])
                sources[count++] = (gantry_wait_source){GANTRY_SOURCE_EVENTS, false, events[i]};
            if (timers[j])
                sources[count++] = (gantry_wait_source){GANTRY_SOURCE_TIMER, false, timers[j]};
            if (guards[j])
                sources[count++] = (gantry_wait_source){GANTRY_SOURCE_GUARD_CONDITION, false, guards[j]};
            CHECK(gantry_wait_set_wait(wait_sets[i], sources, count, 0) >= 0);
        }
    }
}

#define TOGGLE(list, kind, ...)                                                                                       \
    do {                                                                                                              \
        if (list[i])                                                                                                  \
            gantry_##kind##_destroy(list[i]), list[i] = NULL;                                                         \
        else                                                                                                          \
            __VA_ARGS__;                                                                                              \
    } while (0)

static const char *refuse_odd(void *context, const gantry_parameter *parameters, size_t count) {
    *(char *)context = 1;
    return count == 1 && parameters->value_type == GANTRY_PARAMETER_INTEGER && parameters->integer_value % 2 ? "odd" : NULL;
}

/* Declares the parameter, or changes it. */
static void set_parameter(gantry_node *node, uint64_t value) {
    const gantry_parameter number = {
        .name = "number", .value_type = GANTRY_PARAMETER_INTEGER, .integer_value = (int64_t)value};
    gantry_parameters *list = NULL;
    gantry_status status = gantry_node_has_parameter(node, "number")
                               ? gantry_node_set_parameters(node, &number, 1)
                               : gantry_node_declare_parameter(node, &number, NULL, &list);
    CHECK(status == GANTRY_OK || (status == GANTRY_INVALID_ARGUMENT && value % 2 && error_says("odd")));
    CHECK(!list || gantry_parameters_get(list, 0)->integer_value == (int64_t)value);
    gantry_parameters_destroy(list);
}

static void handles(size_t i, size_t j) {
    const char *topic = topics[random_below(3)];
    gantry_node *node = nodes[j];
    switch (random_below(12)) {
    case 0:
        TOGGLE(nodes, node, nodes[i] = new_node("random"));
        break;
    case 1:
        TOGGLE(publishers, publisher,
               if (node) OK(gantry_publisher_create(node, topic, &type, NULL, NULL, &publishers[i])));
        break;
    case 2:
        TOGGLE(subscriptions, subscription,
               if (node) OK(gantry_subscription_create(node, topic, &type, NULL, &subscriptions[i])));
        break;
    case 3:
        TOGGLE(services, service, if (node) OK(gantry_service_create(node, topic, &service_type, NULL, &services[i])));
        break;
    case 4:
        TOGGLE(clients, client, if (node) OK(gantry_client_create(node, topic, &service_type, NULL, &clients[i])));
        break;
    case 5:
        TOGGLE(events, events, if (subscriptions[j]) OK(gantry_subscription_events(subscriptions[j], &events[i])));
        break;
    case 6:
        TOGGLE(wait_sets, wait_set, if (node) OK(gantry_wait_set_create(node, &wait_sets[i])));
        break;
    case 7:
        TOGGLE(timers, timer, if (node) OK(gantry_timer_create(node, 1, false, &timers[i])));
        break;
    case 8:
        TOGGLE(guards, guard_condition, OK(gantry_guard_condition_create(&guards[i])));
        break;
    case 9:
        TOGGLE(callbacks, parameter_callback, if (node) OK(gantry_node_on_set_parameters(
                                                  node, refuse_odd, malloc(1), free, &callbacks[i])));
        break;
    case 10:
        if (node)
            set_parameter(node, random_below(100));
        break;
    default:
        TOGGLE(publishers, publisher, if (publishers[j]) OK(gantry_publisher_clone(publishers[j], &publishers[i])));
    }
}

int main(int argc, char **argv) {
    const uint64_t seed = argc > 1 ? strtoull(argv[1], NULL, 10) : 1;
    const long steps = argc > 2 ? atol(argv[2]) : 2000;
    state = seed * 0x9e3779b97f4a7c15u + 1;
    printf("seed %llu\n", (unsigned long long)seed);
    for (long step = 0; step < steps; step++) {
        const size_t i = random_below(PLACES), j = random_below(PLACES);
        random_below(6) == 0 ? handles(i, j) : messages(i, j);
        CHECK(samples[j].data == NULL || samples[j].size == expected[j]);
        check_bytes(&samples[i]);
    }
    for (size_t i = 0; i < PLACES; i++) {
        check_bytes(&samples[i]);
        gantry_node_destroy(nodes[i]);
        gantry_publisher_destroy(publishers[i]);
        gantry_subscription_destroy(subscriptions[i]);
        OK(gantry_loan_return(&loans[i]));
        OK(gantry_sample_release(&samples[i]));
        gantry_service_destroy(services[i]);
        gantry_client_destroy(clients[i]);
        gantry_events_destroy(events[i]);
        gantry_wait_set_destroy(wait_sets[i]);
        gantry_timer_destroy(timers[i]);
        gantry_guard_condition_destroy(guards[i]);
        gantry_parameter_callback_destroy(callbacks[i]);
    }
    return 0;
}
