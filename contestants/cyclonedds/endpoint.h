/* A publisher or a subscription, also of a client or a server: its reader or writer, and the form of its messages. Its
   functions take it by the address of this struct, with which it begins. */
#ifndef ENDPOINT_H
#define ENDPOINT_H

#include <dds/ddsc/dds_psmx.h>
#include <dds/ddsi/ddsi_serdata.h>
#include <dds/ddsi/ddsi_sertype.h>

#include "message.h"
#include "session.h"

struct endpoint {
    const struct session *session;
    const perf_test_endpoint *plan;
    struct form form;
    dds_entity_t topic, entity; /* the reader or the writer */
    const struct ddsi_sertype *sertype; /* the serialised type of its messages */
    void *message;              /* the user's own */
    bool loans;                 /* messages are written or read in the middleware's memory */
    struct call call;           /* of a client: its id, and its last request; of a server: the request in hand */
    const struct call *asked;   /* of a server's publisher: the request in hand */
};

/* Opens an endpoint of this kind, which has the QoS of the plan; -1: failed. close_endpoint frees it in any case. */
int open_endpoint(struct endpoint *endpoint, const struct session *session, const perf_test_endpoint *plan,
                  uint32_t kind, perf_test_error *error);
void close_endpoint(struct endpoint *endpoint);

/* The name of a policy for which endpoints are not matched. */
const char *policy_name(uint32_t policy_id);

extern const perf_test_publisher_functions PUBLISHER;
/* Taken from its reader, which a wait set watches; and delivered by its listener. */
extern const perf_test_subscription_functions SUBSCRIPTION, LISTENING_SUBSCRIPTION;

int create_client(void *session, const perf_test_run *run, const perf_test_endpoint *plan,
                  perf_test_service_end *client, perf_test_error *error);
int create_server(void *session, const perf_test_run *run, const perf_test_endpoint *plan,
                  perf_test_service_end *server, perf_test_error *error);

/* The only kind of executor. */
#define EXECUTOR_NAME "wait-set"
extern const perf_test_executor_functions EXECUTOR;

#endif
