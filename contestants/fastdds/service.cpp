// Clients and servers, as ROS 2 has them over Fast DDS: a topic of requests and a topic of responses. A response
// carries the identity of its request beside the data. Every client gets all responses and ignores the responses to
// other clients.

#include "endpoint.hpp"

namespace {

// The endpoints of a client or a server.
int create_ends(void *session, const perf_test_run *run, const perf_test_endpoint *plan, perf_test_service_end *end,
                perf_test_error *error) {
    end->publisher = PUBLISHER_FUNCTIONS.create(session, run, plan, error);
    if (!end->publisher) return -1;
    end->subscription = SUBSCRIPTION_FUNCTIONS.create(session, run, plan, error);
    if (end->subscription) return 0;
    PUBLISHER_FUNCTIONS.matched.destroy(end->publisher);
    return -1;
}

} // namespace

int create_client(void *session, const perf_test_run *run, const perf_test_endpoint *plan,
                  perf_test_service_end *client, perf_test_error *error) {
    if (create_ends(session, run, plan, client, error) != 0) return -1;
    take_responses_to(client->subscription, client->publisher);
    return 0;
}

int create_server(void *session, const perf_test_run *run, const perf_test_endpoint *plan,
                  perf_test_service_end *server, perf_test_error *error) {
    if (create_ends(session, run, plan, server, error) != 0) return -1;
    answer_requests_of(server->publisher, server->subscription);
    return 0;
}
