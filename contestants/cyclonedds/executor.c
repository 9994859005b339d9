/* The executor: one thread with a wait set, as a program without ROS uses Cyclone DDS. In each turn it runs the timers
   that are due, then takes one sample (message, request or response) from each reader that has one. */
#include <stdatomic.h>
#include <stdlib.h>

#include "endpoint.h"

struct callback {
    void *subscription;
    perf_test_sink *sink;
    perf_test_responder *responder; /* set for a server; all other callbacks have a sink */
    dds_entity_t condition;         /* true while the reader has samples */
};

struct executor {
    const struct session *session;
    dds_entity_t wait_set;
    atomic_bool is_stopped;
    perf_test_timer **timers;
    struct callback *callbacks;
    dds_attach_t *ready; /* the wait set writes the indices of callbacks here */
    size_t timer_count, callback_count;
};

static void destroy(void *executor) {
    struct executor *self = executor;
    for (size_t i = 0; i < self->callback_count; i++) dds_delete(self->callbacks[i].condition);
    if (self->wait_set > 0) dds_delete(self->wait_set);
    free(self->timers);
    free(self->callbacks);
    free(self->ready);
    free(self);
}

static void *create(void *session, const perf_test_run *run, perf_test_error *error) {
    (void)run;
    struct executor *self = calloc(1, sizeof *self);
    if (!self) return perf_test_fail(error, "there is no memory"), NULL;
    self->session = session;
    self->wait_set = dds_create_waitset(self->session->participant);
    /* The wait set is attached to itself, so that `stop` can wake it. */
    dds_return_t result = self->wait_set < 0 ? self->wait_set : dds_waitset_attach(self->wait_set, self->wait_set, -1);
    if (result == DDS_RETCODE_OK) return self;
    perf_test_fail(error, "Cyclone DDS cannot create a wait set: %s", dds_strretcode(result));
    return destroy(self), NULL;
}

/* Returns the array with space for count + 1 elements. Without memory it returns NULL, and the array stays valid. */
static void *longer(void *array, size_t count, size_t element_bytes) {
    return realloc(array, (count + 1) * element_bytes);
}

static int add_timer(void *executor, const perf_test_endpoint *publisher, perf_test_timer *timer,
                     perf_test_error *error) {
    (void)publisher;
    struct executor *self = executor;
    perf_test_timer **timers = longer(self->timers, self->timer_count, sizeof *timers);
    if (!timers) return perf_test_fail(error, "there is no memory");
    self->timers = timers;
    self->timers[self->timer_count++] = timer;
    return 0;
}

static int add(struct executor *self, struct callback callback, perf_test_error *error) {
    size_t count = self->callback_count;
    struct callback *callbacks = longer(self->callbacks, count, sizeof *callbacks);
    if (callbacks) self->callbacks = callbacks;
    dds_attach_t *ready = longer(self->ready, count + 1, sizeof *ready); /* one more for `stop` */
    if (ready) self->ready = ready;
    if (!callbacks || !ready) return perf_test_fail(error, "there is no memory");
    /* A read condition stays true while samples are left; the status of a reader is reset by the first take. */
    const struct endpoint *endpoint = callback.subscription;
    dds_entity_t condition = dds_create_readcondition(endpoint->entity, DDS_ANY_STATE);
    if (condition < 0) return perf_test_fail(error, "Cyclone DDS has no condition: %s", dds_strretcode(condition));
    callback.condition = condition;
    self->callbacks[self->callback_count++] = callback;
    dds_return_t result = dds_waitset_attach(self->wait_set, condition, (dds_attach_t)count);
    if (result == DDS_RETCODE_OK) return 0;
    return perf_test_fail(error, "Cyclone DDS cannot wait for messages: %s", dds_strretcode(result));
}

static int add_subscription(void *executor, void *subscription, perf_test_sink *sink, perf_test_error *error) {
    return add(executor, (struct callback){.subscription = subscription, .sink = sink}, error);
}

static int add_client(void *executor, const perf_test_service_end *client, perf_test_sink *responses,
                      perf_test_error *error) {
    return add(executor, (struct callback){.subscription = client->subscription, .sink = responses}, error);
}

static int add_server(void *executor, const perf_test_service_end *server, perf_test_responder *requests,
                      perf_test_error *error) {
    return add(executor, (struct callback){.subscription = server->subscription, .responder = requests}, error);
}

/* Runs the timers that are due. Returns the time at which the next timer is due. */
static int64_t run_timers(const struct executor *self) {
    int64_t next_ns = INT64_MAX;
    for (size_t i = 0; i < self->timer_count; i++) {
        int64_t due_ns = perf_test_timer_run(self->timers[i]);
        if (due_ns < next_ns) next_ns = due_ns;
    }
    return next_ns;
}

/* Takes one sample, if there is one, and passes it to the callback. */
static int receive(const struct callback *callback, perf_test_error *error) {
    perf_test_taken taken = {0};
    int result = SUBSCRIPTION.take(callback->subscription, &taken, error);
    if (result <= 0) return result;
    if (callback->responder) perf_test_responder_request(callback->responder, &taken);
    else perf_test_sink_taken(callback->sink, &taken);
    SUBSCRIPTION.release(callback->subscription);
    return 0;
}

static int spin(void *executor, int64_t start_ns, perf_test_error *error) {
    (void)start_ns; /* the timers know the start time */
    struct executor *self = executor;
    size_t places = self->callback_count + 1;
    dds_attach_t one;
    dds_attach_t *ready = self->ready ? self->ready : &one;
    while (!atomic_load(&self->is_stopped)) {
        int64_t next_ns = run_timers(self);
        int64_t wait_ns = next_ns == INT64_MAX ? DDS_INFINITY : next_ns - perf_test_now_ns();
        dds_return_t count = dds_waitset_wait(self->wait_set, ready, places, wait_ns > 0 ? wait_ns : 0);
        if (count < 0) return perf_test_fail(error, "Cyclone DDS cannot wait: %s", dds_strretcode(count));
        for (size_t i = 0; i < (size_t)count && i < places; i++)
            if (ready[i] >= 0 && receive(&self->callbacks[ready[i]], error) != 0) return -1;
    }
    return 0;
}

static void stop(void *executor) {
    struct executor *self = executor;
    atomic_store(&self->is_stopped, true);
    dds_waitset_set_trigger(self->wait_set, true);
}

const perf_test_executor_functions EXECUTOR = {
    .create = create,
    .add_timer = add_timer,
    .add_subscription = add_subscription,
    .spin = spin,
    .stop = stop,
    .destroy = destroy,
    .add_client = add_client,
    .add_server = add_server,
};
