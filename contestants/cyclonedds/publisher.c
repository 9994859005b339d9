#include <stdlib.h>

#include "endpoint.h"

struct publisher {
    struct endpoint base;
    bool marks; /* with --phases: serialises and sends in two steps */
};

static void destroy(void *publisher) {
    struct publisher *self = publisher;
    close_endpoint(&self->base);
    free(self);
}

static void *create(void *session, const perf_test_run *run, const perf_test_endpoint *plan, perf_test_error *error) {
    struct publisher *self = calloc(1, sizeof *self);
    if (!self) return perf_test_fail(error, "there is no memory"), NULL;
    if (open_endpoint(&self->base, session, plan, PERF_TEST_PUBLISHER, error) != 0) return destroy(self), NULL;
    /* Messages in shared memory are not serialised, so there is no such phase. */
    self->marks = run->phases && !self->base.session->shares_memory;
    return self;
}

static int64_t matched(void *publisher, perf_test_error *error) {
    dds_publication_matched_status_t status;
    dds_return_t result = dds_get_publication_matched_status(((struct publisher *)publisher)->base.entity, &status);
    if (result < 0) return perf_test_fail(error, "Cyclone DDS cannot count readers: %s", dds_strretcode(result));
    return status.current_count;
}

static void mismatches(void *publisher, perf_test_sentences *sentences) {
    dds_offered_incompatible_qos_status_t status;
    dds_entity_t writer = ((struct publisher *)publisher)->base.entity;
    if (dds_get_offered_incompatible_qos_status(writer, &status) < 0 || status.total_count == 0) return;
    char sentence[160];
    snprintf(sentence, sizeof sentence, "readers that ask for more than is offered: %u, the last one in its %s",
             status.total_count, policy_name(status.last_policy_id));
    perf_test_sentences_add(sentences, sentence);
}

static bool source(void *publisher, uint8_t source[16]) {
    dds_guid_t guid;
    bool has = dds_get_guid(((struct publisher *)publisher)->base.entity, &guid) == DDS_RETCODE_OK;
    if (has) memcpy(source, guid.v, sizeof guid.v);
    return has;
}

/* Serialises the message and sends it. dds_writecdr releases the serialised message. */
static dds_return_t send_serialised(struct publisher *self, perf_test_sent *sent) {
    struct ddsi_serdata *serdata = ddsi_serdata_from_sample(self->base.sertype, SDK_DATA, self->base.message);
    if (!serdata) return DDS_RETCODE_BAD_PARAMETER;
    sent->serialised_ns = perf_test_now_ns();
    return dds_writecdr(self->base.entity, serdata);
}

/* Writes the first fields of a new request, or of the response to the request being handled. */
static void write_call(struct endpoint *base, struct call *call) {
    if (!base->asked) base->call.number++;
    *call = base->asked ? *base->asked : base->call;
}

static int publish(void *publisher, perf_test_draft *draft, perf_test_sent *sent, perf_test_error *error) {
    struct publisher *self = publisher;
    struct endpoint *base = &self->base;
    void *message = base->message;
    if (base->loans) {
        dds_return_t result = dds_request_loan(base->entity, &message);
        if (result < 0) return perf_test_fail(error, "Cyclone DDS loans no message: %s", dds_strretcode(result));
    }
    if (base->form.prefix_bytes) write_call(base, message);
    write_message(&base->form, message, draft);
    dds_return_t result = self->marks ? send_serialised(self, sent) : dds_write(base->entity, message);
    if (result < 0) {
        /* dds_write did not consume the loan if the writer could not be locked. */
        if (base->loans) dds_return_loan(base->entity, &message, 1);
        return perf_test_fail(error, "Cyclone DDS does not send: %s", dds_strretcode(result));
    }
    sent->loaned = base->loans;
    return 0;
}

const perf_test_publisher_functions PUBLISHER = {
    {.matched = matched, .mismatches = mismatches, .destroy = destroy},
    .create = create,
    .publish = publish,
    .source = source,
};
