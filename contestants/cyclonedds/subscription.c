#include <stdatomic.h>
#include <stdlib.h>

#include "endpoint.h"

/* The maximum number of publishers whose ids are kept, and of arrival times. */
enum { SOURCES = 128, ARRIVALS = 4096 };

struct source {
    dds_instance_handle_t handle; /* valid in this process only */
    uint8_t guid[16];             /* the same in all processes */
};

/* The times at which samples entered the history, for --phases. The n-th time belongs to the n-th sample that is taken,
   if no sample was overwritten. */
struct arrivals {
    _Atomic uint64_t count;
    _Atomic int64_t times_ns[ARRIVALS];
    uint64_t taken;
};

struct subscription {
    struct endpoint base;
    dds_entity_t wait_set;
    perf_test_sink *sink;      /* gets the messages that the listener delivers */
    struct ddsi_serdata *held; /* the last taken sample, if it is read in place */
    struct source sources[SOURCES];
    size_t source_count;
    struct arrivals *arrivals;
};

static void destroy(void *subscription) {
    struct subscription *self = subscription;
    if (self->held) ddsi_serdata_unref(self->held);
    if (self->wait_set > 0) dds_delete(self->wait_set);
    close_endpoint(&self->base);
    free(self->arrivals);
    free(self);
}

static void on_data_available(dds_entity_t reader, void *argument) {
    struct arrivals *arrivals = argument;
    uint64_t count = atomic_load_explicit(&arrivals->count, memory_order_relaxed);
    atomic_store_explicit(&arrivals->times_ns[count % ARRIVALS], perf_test_now_ns(), memory_order_relaxed);
    atomic_store_explicit(&arrivals->count, count + 1, memory_order_release); /* pairs with the load in arrived_ns */
    (void)reader;
}

/* Returns the time at which the next sample arrived; 0 if the listener has not run for it yet. */
static int64_t arrived_ns(struct arrivals *arrivals, const perf_test_qos *qos) {
    uint64_t count = atomic_load_explicit(&arrivals->count, memory_order_acquire);
    uint64_t kept = qos->history == PERF_TEST_KEEP_LAST && qos->depth < ARRIVALS ? qos->depth : ARRIVALS;
    if (count > arrivals->taken + kept) arrivals->taken = count - kept;
    uint64_t index = arrivals->taken++;
    return index < count ? atomic_load_explicit(&arrivals->times_ns[index % ARRIVALS], memory_order_relaxed) : 0;
}

static dds_return_t set_listener(dds_entity_t reader, dds_on_data_available_fn function, void *argument) {
    dds_listener_t *listener = dds_create_listener(NULL);
    /* `false` leaves the status set when the listener is called, so that the wait set wakes after the listener. */
    dds_lset_data_available_arg(listener, function, argument, false);
    dds_return_t result = dds_set_listener(reader, listener);
    dds_delete_listener(listener);
    return result;
}

/* Creates the wait set of a subscription that is in no executor. */
static dds_return_t wait_alone(struct subscription *self) {
    self->wait_set = dds_create_waitset(self->base.session->participant);
    dds_return_t result = dds_set_status_mask(self->base.entity, DDS_DATA_AVAILABLE_STATUS);
    return result == DDS_RETCODE_OK ? dds_waitset_attach(self->wait_set, self->base.entity, 0) : result;
}

/* Creates a subscription without a wait set and without a listener. */
static void *create_bare(void *session, const perf_test_run *run, const perf_test_endpoint *plan,
                         perf_test_error *error) {
    struct subscription *self = calloc(1, sizeof *self);
    if (!self) return perf_test_fail(error, "there is no memory"), NULL;
    if (open_endpoint(&self->base, session, plan, PERF_TEST_SUBSCRIPTION, error) != 0) return destroy(self), NULL;
    if (!run->phases) return self;
    self->arrivals = calloc(1, sizeof *self->arrivals);
    if (self->arrivals) return self;
    perf_test_fail(error, "there is no memory");
    return destroy(self), NULL;
}

static void *create(void *session, const perf_test_run *run, const perf_test_endpoint *plan, perf_test_error *error) {
    struct subscription *self = create_bare(session, run, plan, error);
    if (!self) return NULL;
    /* A reader that polls has no wait set, because each message would signal it in vain. */
    bool is_waited_for = !run->executor && run->wait != PERF_TEST_SPIN;
    dds_return_t result = is_waited_for ? wait_alone(self) : DDS_RETCODE_OK;
    if (result == DDS_RETCODE_OK && self->arrivals)
        result = set_listener(self->base.entity, on_data_available, self->arrivals);
    if (result == DDS_RETCODE_OK) return self;
    perf_test_fail(error, "Cyclone DDS cannot wait for messages of %s: %s", plan->topic, dds_strretcode(result));
    return destroy(self), NULL;
}

/* Returns the id of the publisher with this handle. */
static const uint8_t *source_of(struct subscription *self, dds_instance_handle_t handle) {
    for (size_t i = 0; i < self->source_count; i++)
        if (self->sources[i].handle == handle) return self->sources[i].guid;
    struct source *source = &self->sources[self->source_count % SOURCES];
    *source = (struct source){.handle = handle};
    dds_builtintopic_endpoint_t *writer = dds_get_matched_publication_data(self->base.entity, handle);
    memcpy(source->guid, writer ? (const void *)writer->key.v : &handle, writer ? sizeof source->guid : sizeof handle);
    if (writer) dds_builtintopic_free_endpoint(writer);
    if (self->source_count < SOURCES - 1) self->source_count++; /* a full table reuses its last place */
    return source->guid;
}

static int64_t matched(void *subscription, perf_test_error *error) {
    struct subscription *self = subscription;
    dds_instance_handle_t writers[SOURCES];
    dds_return_t count = dds_get_matched_publications(self->base.entity, writers, SOURCES);
    if (count < 0) return perf_test_fail(error, "Cyclone DDS cannot count writers: %s", dds_strretcode(count));
    for (dds_return_t i = 0; i < count && i < SOURCES; i++) source_of(self, writers[i]); /* before the writer can end */
    return count;
}

static void mismatches(void *subscription, perf_test_sentences *sentences) {
    dds_requested_incompatible_qos_status_t status;
    dds_entity_t reader = ((struct subscription *)subscription)->base.entity;
    if (dds_get_requested_incompatible_qos_status(reader, &status) < 0 || status.total_count == 0) return;
    char sentence[160];
    snprintf(sentence, sizeof sentence, "writers that offer less than is asked for: %u, the last one in its %s",
             status.total_count, policy_name(status.last_policy_id));
    perf_test_sentences_add(sentences, sentence);
}

/* Returns the message if it lies in the memory of iceoryx as it was written; NULL if it was serialised. */
static const void *in_place(const struct ddsi_serdata *serdata) {
    const dds_loaned_sample_t *loan = serdata->loan;
    bool is_in_place = loan && loan->loan_origin.origin_kind == DDS_LOAN_ORIGIN_KIND_PSMX
                       && loan->metadata->sample_state == DDS_LOANED_SAMPLE_STATE_RAW_DATA;
    return is_in_place ? loan->sample_ptr : NULL;
}

/* Takes a sample in its received form. If it cannot be read in place, converts it into the user's own message. */
static int take_serialised(struct subscription *self, dds_sample_info_t *info, perf_test_taken *taken) {
    struct ddsi_serdata *serdata = NULL;
    int count = dds_takecdr(self->base.entity, &serdata, 1, info, DDS_ANY_STATE);
    if (count <= 0) return count;
    taken->in_hand_ns = self->arrivals ? perf_test_now_ns() : 0;
    taken->loaned = self->base.loans && info->valid_data && in_place(serdata);
    if (taken->loaned) return self->held = serdata, count;
    bool is_converted = !info->valid_data || ddsi_serdata_to_sample(serdata, self->base.message, NULL, NULL);
    ddsi_serdata_unref(serdata);
    return is_converted ? count : DDS_RETCODE_ERROR;
}

static void release(void *subscription) {
    struct subscription *self = subscription;
    if (self->held) ddsi_serdata_unref(self->held);
    self->held = NULL;
}

/* Whether a sample is for this endpoint; a client also gets the responses to other clients. On a server, stores the
   client and number of the request for the response. */
static bool is_own(struct endpoint *base, const struct call *call) {
    if (!base->form.prefix_bytes) return true;
    if (base->plan->kind == PERF_TEST_CLIENT) return call->client == base->call.client;
    base->call = *call;
    return true;
}

static int take(void *subscription, perf_test_taken *taken, perf_test_error *error) {
    struct subscription *self = subscription;
    const void *sample;
    dds_sample_info_t info;
    do {
        release(self);
        void *messages[] = {self->base.message};
        int count = self->arrivals || self->base.loans
                        ? take_serialised(self, &info, taken)
                        : dds_take(self->base.entity, messages, &info, 1, 1);
        if (count < 0) return perf_test_fail(error, "Cyclone DDS cannot take: %s", dds_strretcode(count));
        if (count == 0) return 0;
        taken->received_ns = perf_test_now_ns();
        /* A sample without data only reports that a writer has ended, so it has no arrival time. */
        if (self->arrivals && info.valid_data) taken->arrived_ns = arrived_ns(self->arrivals, &self->base.plan->qos);
        sample = taken->loaned ? in_place(self->held) : self->base.message;
    } while (!info.valid_data || !is_own(&self->base, sample));
    memcpy(taken->source, source_of(self, info.publication_handle), sizeof taken->source);
    read_message(&self->base.form, sample, taken);
    return 1;
}

/* The caller must take all samples before it waits, because each take resets the status. perf_test does this. */
static int wait_for_message(void *subscription, int64_t timeout_ns, perf_test_error *error) {
    dds_return_t result = dds_waitset_wait(((struct subscription *)subscription)->wait_set, NULL, 0, timeout_ns);
    if (result >= 0) return 0;
    return perf_test_fail(error, "Cyclone DDS cannot wait: %s", dds_strretcode(result));
}

/* Delivers all samples that have arrived, on the library's thread that stored them. */
static void deliver(dds_entity_t reader, void *subscription) {
    struct subscription *self = subscription;
    perf_test_error error;
    int result;
    if (self->arrivals) on_data_available(reader, self->arrivals);
    do {
        perf_test_taken taken = {0};
        result = take(self, &taken, &error);
        if (result > 0) perf_test_sink_taken(self->sink, &taken);
        release(self);
    } while (result > 0);
    if (result < 0) perf_test_sink_failed(self->sink, error.sentence);
}

static int start(void *subscription, perf_test_sink *sink, perf_test_error *error) {
    struct subscription *self = subscription;
    self->sink = sink;
    /* The listener is also called for samples that arrived before this call. */
    dds_return_t result = set_listener(self->base.entity, deliver, self);
    if (result == DDS_RETCODE_OK) return 0;
    return perf_test_fail(error, "Cyclone DDS cannot listen: %s", dds_strretcode(result));
}

/* The library waits until a running call of the listener has returned. */
static int stop(void *subscription, perf_test_error *error) {
    dds_return_t result = dds_set_listener(((struct subscription *)subscription)->base.entity, NULL);
    if (result == DDS_RETCODE_OK) return 0;
    return perf_test_fail(error, "Cyclone DDS cannot end listening: %s", dds_strretcode(result));
}

const perf_test_subscription_functions SUBSCRIPTION = {
    {.matched = matched, .mismatches = mismatches, .destroy = destroy},
    .create = create,
    .take = take,
    .release = release,
    .wait = wait_for_message,
};

const perf_test_subscription_functions LISTENING_SUBSCRIPTION = {
    {.matched = matched, .mismatches = mismatches, .destroy = destroy},
    .create = create_bare,
    .start = start,
    .stop = stop,
};
