/* An endpoint is a publisher or a subscription, or one of the two that make up a client or a server. Functions of the
   back end get an endpoint as `void *`, which is the address of its struct endpoint. */
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
    void *message;              /* the user's own message, for runs that copy */
    bool loans;                 /* messages are written or read in the middleware's memory */
    struct call call;           /* client: its id and last request number; server: the request being handled */
    const struct call *asked;   /* only in a server's publisher: the request to answer */
};

/* Opens an endpoint of this kind with the QoS of the plan; returns -1 if this fails. The caller calls close_endpoint
   also after a failure. */
int open_endpoint(struct endpoint *endpoint, const struct session *session, const perf_test_endpoint *plan,
                  uint32_t kind, perf_test_error *error);
void close_endpoint(struct endpoint *endpoint);

/* Returns the name of the QoS policy that keeps two endpoints from matching. */
const char *policy_name(uint32_t policy_id);

extern const perf_test_publisher_functions PUBLISHER;
/* SUBSCRIPTION takes samples from its reader; LISTENING_SUBSCRIPTION gets them in the reader's listener. */
extern const perf_test_subscription_functions SUBSCRIPTION, LISTENING_SUBSCRIPTION;

int create_client(void *session, const perf_test_run *run, const perf_test_endpoint *plan,
                  perf_test_service_end *client, perf_test_error *error);
int create_server(void *session, const perf_test_run *run, const perf_test_endpoint *plan,
                  perf_test_service_end *server, perf_test_error *error);

/* The name of the only kind of executor. */
#define EXECUTOR_NAME "wait-set"
extern const perf_test_executor_functions EXECUTOR;

#endif
