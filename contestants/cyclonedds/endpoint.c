#include "endpoint.h"

#include <stdlib.h>

/* The longest time that a publisher waits while the history of a RELIABLE writer is full. */
static const dds_duration_t BLOCKING_NS = DDS_SECS(10);

static dds_qos_t *new_qos(const perf_test_qos *qos) {
    dds_qos_t *made = dds_create_qos();
    bool is_reliable = qos->reliability == PERF_TEST_RELIABLE;
    dds_history_kind_t history = qos->history == PERF_TEST_KEEP_ALL ? DDS_HISTORY_KEEP_ALL : DDS_HISTORY_KEEP_LAST;
    int32_t depth = qos->history == PERF_TEST_KEEP_ALL ? 1 : (int32_t)qos->depth;
    bool is_transient = qos->durability == PERF_TEST_TRANSIENT_LOCAL;
    dds_qset_reliability(made, is_reliable ? DDS_RELIABILITY_RELIABLE : DDS_RELIABILITY_BEST_EFFORT, BLOCKING_NS);
    dds_qset_durability(made, is_transient ? DDS_DURABILITY_TRANSIENT_LOCAL : DDS_DURABILITY_VOLATILE);
    dds_qset_history(made, history, depth);
    dds_qset_resource_limits(made, DDS_LENGTH_UNLIMITED, DDS_LENGTH_UNLIMITED, DDS_LENGTH_UNLIMITED);
    /* A reader that matches late gets its history from the durability service. */
    if (is_transient)
        dds_qset_durability_service(made, 0, history, depth, DDS_LENGTH_UNLIMITED, DDS_LENGTH_UNLIMITED,
                                    DDS_LENGTH_UNLIMITED);
    return made;
}

/* Whether the reader or writer has the wanted QoS. */
static bool has_qos(dds_entity_t entity, const dds_qos_t *wanted) {
    dds_qos_t *found = dds_create_qos();
    dds_reliability_kind_t reliability[2];
    dds_durability_kind_t durability[2];
    dds_history_kind_t history[2];
    int32_t depth[2];
    dds_duration_t blocking_ns[2];
    bool has = dds_get_qos(entity, found) == DDS_RETCODE_OK;
    const dds_qos_t *both[2] = {found, wanted};
    for (int i = 0; i < 2 && has; i++)
        has = dds_qget_reliability(both[i], &reliability[i], &blocking_ns[i])
              && dds_qget_durability(both[i], &durability[i]) && dds_qget_history(both[i], &history[i], &depth[i]);
    dds_delete_qos(found);
    return has && reliability[0] == reliability[1] && durability[0] == durability[1] && history[0] == history[1]
           && (history[0] == DDS_HISTORY_KEEP_ALL || depth[0] == depth[1]);
}

/* Whether the way in which the node passes messages (`pass_by`) uses loans, where loans are possible. */
static bool wants_loans(const perf_test_endpoint *plan, uint32_t kind) {
    uint32_t wanted = kind == PERF_TEST_PUBLISHER ? PERF_TEST_LOANED_MSG : PERF_TEST_SHARED_PTR | PERF_TEST_LOANED_MSG;
    return plan->pass_by & wanted;
}

int open_endpoint(struct endpoint *endpoint, const struct session *session, const perf_test_endpoint *plan,
                  uint32_t kind, perf_test_error *error) {
    const perf_test_run *run = session->run;
    bool is_call = plan->kind & (PERF_TEST_CLIENT | PERF_TEST_SERVER), publishes = kind == PERF_TEST_PUBLISHER;
    *endpoint = (struct endpoint){.session = session, .plan = plan, .form = form_of(&plan->message, run->raw, is_call)};
    const struct form *form = &endpoint->form;
    if (!form->type)
        return perf_test_fail(error, "Cyclone DDS was built without %s: build it again", plan->message.name);
    if (session->shares_memory && check_shared_qos(&plan->qos, error) != 0) return -1;
    char name[512]; /* the name that ROS 2 gives the topic or service in DDS */
    if (!is_call) snprintf(name, sizeof name, "rt%s", plan->topic);
    else if (publishes == (plan->kind == PERF_TEST_CLIENT)) snprintf(name, sizeof name, "rq%sRequest", plan->topic);
    else snprintf(name, sizeof name, "rr%sReply", plan->topic);
    dds_qos_t *qos = new_qos(&plan->qos);
    endpoint->topic = dds_create_topic(session->participant, form->descriptor, name, NULL, NULL);
    endpoint->entity = endpoint->topic < 0 ? endpoint->topic
                       : publishes ? dds_create_writer(session->participant, endpoint->topic, qos, NULL)
                                   : dds_create_reader(session->participant, endpoint->topic, qos, NULL);
    bool is_as_asked = endpoint->entity >= 0 && has_qos(endpoint->entity, qos);
    dds_delete_qos(qos);
    if (endpoint->entity < 0)
        return perf_test_fail(error,
                              "Cyclone DDS cannot create an endpoint of %s: %s. The messages of Cyclone DDS are on "
                              "standard error",
                              name, dds_strretcode(endpoint->entity));
    if (!is_as_asked)
        return perf_test_fail(error, "Cyclone DDS gave an endpoint of %s another QoS than the requested QoS", name);
    dds_return_t result = dds_get_entity_sertype(endpoint->entity, &endpoint->sertype);
    if (result != DDS_RETCODE_OK)
        return perf_test_fail(error, "Cyclone DDS does not return the type of %s: %s", name, dds_strretcode(result));
    /* Only a type that memcpy can copy is loaned; iceoryx gets messages of all other types serialised. */
    bool has_loans = session->shares_memory && endpoint->sertype->is_memcpy_safe;
    if (dds_is_shared_memory_available(endpoint->entity) != session->shares_memory || (run->zero_copy && !has_loans))
        return perf_test_fail(error,
                              "Cyclone DDS does not use shared memory for %s as requested: change --set "
                              "shared-memory, or leave out --zero-copy",
                              name);
    endpoint->loans = run->zero_copy || (wants_loans(plan, kind) && has_loans);
    endpoint->message = new_message(form);
    return endpoint->message ? 0 : perf_test_fail(error, "there is no memory for a message");
}

const char *policy_name(uint32_t policy_id) {
    switch (policy_id) {
    case DDS_RELIABILITY_QOS_POLICY_ID: return "reliability";
    case DDS_DURABILITY_QOS_POLICY_ID: return "durability";
    default: return "another policy than reliability and durability";
    }
}

void close_endpoint(struct endpoint *endpoint) {
    if (endpoint->message) dds_sample_free(endpoint->message, endpoint->form.descriptor, DDS_FREE_ALL);
    if (endpoint->entity > 0) dds_delete(endpoint->entity);
    if (endpoint->topic > 0) dds_delete(endpoint->topic);
}
