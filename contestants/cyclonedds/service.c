/* Clients and servers, as ROS 2 builds them on DDS: one topic for requests, one for responses. Each of their messages
   starts with the id of the client and the number of its request. Every client gets all responses and ignores the
   responses to other clients. */
#include "endpoint.h"

/* Creates the publisher and the subscription of a client or a server. */
static int create_ends(void *session, const perf_test_run *run, const perf_test_endpoint *plan,
                       perf_test_service_end *end, perf_test_error *error) {
    void *publisher = PUBLISHER.create(session, run, plan, error);
    void *subscription = publisher ? SUBSCRIPTION.create(session, run, plan, error) : NULL;
    *end = (perf_test_service_end){publisher, subscription};
    if (subscription) return 0;
    if (publisher) PUBLISHER.matched.destroy(publisher);
    return -1;
}

int create_client(void *session, const perf_test_run *run, const perf_test_endpoint *plan,
                  perf_test_service_end *client, perf_test_error *error) {
    if (create_ends(session, run, plan, client, error) != 0) return -1;
    struct endpoint *requests = client->publisher, *responses = client->subscription;
    /* The handle is unique across processes, because each process derives its handles with its own key. */
    dds_instance_handle_t handle = 0;
    dds_return_t result = dds_get_instance_handle(requests->entity, &handle);
    requests->call.client = responses->call.client = handle;
    if (result == DDS_RETCODE_OK) return 0;
    PUBLISHER.matched.destroy(requests);
    SUBSCRIPTION.matched.destroy(responses);
    return perf_test_fail(error, "Cyclone DDS gives a client no id: %s", dds_strretcode(result));
}

int create_server(void *session, const perf_test_run *run, const perf_test_endpoint *plan,
                  perf_test_service_end *server, perf_test_error *error) {
    if (create_ends(session, run, plan, server, error) != 0) return -1;
    const struct endpoint *requests = server->subscription;
    ((struct endpoint *)server->publisher)->asked = &requests->call;
    return 0;
}
