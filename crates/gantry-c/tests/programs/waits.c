/* A wait set marks the sources that are ready. A descriptor is readable while there is something to take. */
#include "check.h"
#include <poll.h>
#include <pthread.h>

static int is_readable(int32_t fd) {
    struct pollfd polled = {fd, POLLIN, 0};
    return poll(&polled, 1, 0) == 1;
}

static void await_readable(int32_t fd) {
    struct pollfd polled = {fd, POLLIN, 0};
    CHECK(poll(&polled, 1, 60000) == 1);
}

static void *trigger(void *guard_condition) {
    OK(gantry_guard_condition_trigger(guard_condition));
    return NULL;
}

int main(void) {
    const gantry_type type = BYTES;
    gantry_node *node = new_node("waiter");
    gantry_publisher *publisher;
    gantry_subscription *subscription;
    gantry_guard_condition *guard;
    gantry_timer *timer, *never;
    gantry_events *events;
    gantry_wait_set *wait_set;
    OK(gantry_subscription_create(node, "news", &type, NULL, &subscription));
    OK(gantry_subscription_events(subscription, &events));
    OK(gantry_guard_condition_create(&guard));
    OK(gantry_timer_create(node, 1000, true, &timer));
    OK(gantry_timer_create(node, UINT64_C(3600000000000), false, &never));
    OK(gantry_wait_set_create(node, &wait_set));
    gantry_wait_source sources[] = {{GANTRY_SOURCE_SUBSCRIPTION, false, subscription},
                                    {GANTRY_SOURCE_GUARD_CONDITION, false, guard},
                                    {GANTRY_SOURCE_TIMER, false, never},
                                    {GANTRY_SOURCE_EVENTS, false, events}};
    CHECK(gantry_wait_set_wait(wait_set, sources, 4, 0) == GANTRY_TIMEOUT);
    gantry_wait_source due = {GANTRY_SOURCE_TIMER, false, timer};
    OK(gantry_wait_set_wait(wait_set, &due, 1, PATIENCE));
    CHECK(due.is_ready && gantry_timer_time_until_trigger(timer) == 0);
    gantry_tick tick = {.struct_size = sizeof tick};
    OK(gantry_timer_take(timer, &tick));
    CHECK(tick.noticed_ns >= tick.scheduled_ns && gantry_timer_take(timer, &tick) == GANTRY_NONE);
    CHECK(gantry_timer_is_canceled(timer) && gantry_timer_time_until_trigger(timer) == -1);
    OK(gantry_timer_reset(timer));
    CHECK(!gantry_timer_is_canceled(timer));
    OK(gantry_timer_cancel(timer));

    /* Another thread triggers the guard condition and so ends the wait. */
    pthread_t thread;
    CHECK(pthread_create(&thread, NULL, trigger, guard) == 0);
    OK(gantry_wait_set_wait(wait_set, sources, 4, PATIENCE));
    CHECK(!sources[0].is_ready && sources[1].is_ready && !sources[2].is_ready && !sources[3].is_ready);
    CHECK(pthread_join(thread, NULL) == 0);
    OK(gantry_guard_condition_take(guard));
    CHECK(gantry_guard_condition_take(guard) == GANTRY_NONE);

    /* Descriptors work, also after a wait set has waited for the same sources. */
    int32_t samples, triggers, news;
    OK(gantry_subscription_get_fd(subscription, &samples));
    OK(gantry_guard_condition_get_fd(guard, &triggers));
    OK(gantry_events_get_fd(events, &news));
    CHECK(!is_readable(samples) && !is_readable(triggers) && !is_readable(news));
    CHECK(gantry_wait_set_wait(wait_set, sources, 4, 0) == GANTRY_TIMEOUT);
    OK(gantry_guard_condition_trigger(guard));
    CHECK(is_readable(triggers));
    OK(gantry_guard_condition_take(guard));
    CHECK(!is_readable(triggers));
    OK(gantry_publisher_create(node, "news", &type, NULL, NULL, &publisher));
    await_readable(news);
    gantry_event event = {.struct_size = sizeof event};
    OK(gantry_events_take(events, &event));
    CHECK(event.kind == GANTRY_EVENT_MATCHED && event.current_count == 1 && event.total_count_change == 1);
    while (gantry_events_take(events, &event) == GANTRY_OK)
        CHECK(event.kind == GANTRY_EVENT_LIVELINESS_CHANGED);
    CHECK(!is_readable(news));
    OK(gantry_publisher_publish_copy(publisher, (const uint8_t *)"x", 1, NULL));
    await_readable(samples);
    OK(gantry_wait_set_wait(wait_set, sources, 4, PATIENCE));
    CHECK(sources[0].is_ready);
    gantry_sample sample;
    OK(gantry_subscription_take(subscription, &sample));
    /* A change of the graph may make the descriptor readable once more, until a take finds nothing. */
    do
        CHECK(gantry_subscription_take(subscription, &(gantry_sample){0}) == GANTRY_NONE);
    while (is_readable(samples));
    OK(gantry_sample_release(&sample));

    /* Errors: the same source twice, and a kind that does not exist. */
    const gantry_wait_source twice = sources[0];
    sources[3] = twice;
    CHECK(gantry_wait_set_wait(wait_set, sources, 4, 0) == GANTRY_INVALID_ARGUMENT && error_says("twice"));
    sources[3] = (gantry_wait_source){99, false, events};
    CHECK(gantry_wait_set_wait(wait_set, sources, 4, 0) == GANTRY_INVALID_ARGUMENT && error_says("99"));

    /* A shutdown ends a wait that has no time-out. */
    CHECK(gantry_ok() && gantry_shutdown() && !gantry_ok());
    CHECK(gantry_wait_set_wait(wait_set, sources, 3, -1) == GANTRY_TIMEOUT);
    gantry_wait_set_destroy(wait_set);
    gantry_events_destroy(events);
    gantry_timer_destroy(timer);
    gantry_timer_destroy(never);
    gantry_guard_condition_destroy(guard);
    gantry_subscription_destroy(subscription);
    gantry_publisher_destroy(publisher);
    gantry_node_destroy(node);
    return 0;
}
