/* A back end of perf_test over Unix datagram sockets. A topic has PLACES abstract socket names for its publishers, and
 * the same number for its subscriptions; an endpoint binds the first free name. The queue of a socket is the history. A
 * publisher waits while this queue is full, so the QoS are RELIABLE and KEEP_ALL. */
#define _GNU_SOURCE
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "perf_test_backend.h"

enum { PLACES = 64, MOST_BYTES = 128 * 1024, STAMP_BYTES = 16 };

struct message { uint8_t source[16]; int64_t time_ns; uint64_t id; uint8_t payload[]; };

struct endpoint {
    const perf_test_run *run;
    const perf_test_endpoint *plan;
    int socket, peer_count;
    struct sockaddr_un peers[PLACES];
    size_t payload_bytes;
    struct message *message;
};

static struct sockaddr_un name(const perf_test_run *run, const perf_test_endpoint *plan, uint32_t kind, int place) {
    struct sockaddr_un name = {.sun_family = AF_UNIX}; /* an abstract name begins with a 0 */
    uint64_t hash = 14695981039346656037u;             /* FNV-1a: a topic may be longer than a name */
    for (const char *c = plan->topic; *c; c++) hash = (hash ^ (uint8_t)*c) * 1099511628211u;
    snprintf(name.sun_path + 1, sizeof name.sun_path - 1, "perf_test_example/%u/%016llx/%u/%d", run->domain_id,
             (unsigned long long)hash, kind, place);
    return name;
}

static void destroy(void *endpoint) {
    struct endpoint *self = endpoint;
    close(self->socket);
    free(self->message);
    free(self);
}

static void *create(void *session, const perf_test_run *run, const perf_test_endpoint *plan, perf_test_error *error) {
    size_t payload_bytes = plan->message.bytes > STAMP_BYTES ? plan->message.bytes - STAMP_BYTES : 0;
    struct message *message = calloc(1, sizeof *message + payload_bytes);
    struct endpoint *self = calloc(1, sizeof *self);
    if (!self || !message) return free(self), free(message), perf_test_fail(error, "there is no memory"), NULL;
    int own = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    *self = (struct endpoint){run, plan, .socket = own, .payload_bytes = payload_bytes, .message = message};
    struct timeval patience = {.tv_sec = 5};
    setsockopt(own, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience);
    for (int place = 0; place < PLACES; place++) {
        struct sockaddr_un address = name(run, plan, plan->kind, place);
        memcpy(message->source, (int[4]){getpid(), place}, sizeof message->source);
        if (bind(own, (struct sockaddr *)&address, sizeof address) == 0) return (void)session, self;
    }
    perf_test_fail(error, "the example has no name for another endpoint of %s: %s", plan->topic, strerror(errno));
    return destroy(self), NULL;
}

static int64_t matched(void *endpoint, perf_test_error *error) {
    struct endpoint *self = endpoint;
    int probe = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (probe < 0) return perf_test_fail(error, "the example cannot create a socket: %s", strerror(errno));
    uint32_t others = self->plan->kind == PERF_TEST_PUBLISHER ? PERF_TEST_SUBSCRIPTION : PERF_TEST_PUBLISHER;
    self->peer_count = 0;
    for (int place = 0; place < PLACES; place++) {
        struct sockaddr_un peer = name(self->run, self->plan, others, place);
        if (connect(probe, (struct sockaddr *)&peer, sizeof peer) == 0) self->peers[self->peer_count++] = peer;
    }
    return close(probe), self->peer_count;
}

static bool source(void *publisher, uint8_t source[16]) {
    return memcpy(source, ((struct endpoint *)publisher)->message->source, 16), true;
}

static int publish(void *publisher, perf_test_draft *draft, perf_test_sent *sent, perf_test_error *error) {
    struct endpoint *self = publisher;
    perf_test_draft_write(draft, self->message->payload, self->payload_bytes);
    perf_test_stamp stamp = perf_test_draft_stamp(draft);
    self->message->time_ns = stamp.time_ns;
    self->message->id = stamp.id & self->plan->message.last_id;
    for (int i = 0; i < self->peer_count; i++) {
        struct sockaddr *peer = (struct sockaddr *)&self->peers[i];
        size_t bytes = sizeof *self->message + self->payload_bytes;
        bool is_sent = sendto(self->socket, self->message, bytes, 0, peer, sizeof self->peers[i]) >= 0;
        if (!is_sent && errno != ECONNREFUSED) /* it is refused by a subscription that has gone */
            return perf_test_fail(error, "the example cannot send: %s", strerror(errno));
    }
    return (void)sent, 0; /* all zeros: the message was copied */
}

static int take(void *subscription, perf_test_taken *taken, perf_test_error *error) {
    struct endpoint *self = subscription;
    ssize_t expected = sizeof *self->message + self->payload_bytes;
    ssize_t bytes = recv(self->socket, self->message, expected, MSG_DONTWAIT | MSG_TRUNC);
    taken->received_ns = perf_test_now_ns();
    if (bytes < 0 && (errno == EAGAIN || errno == EINTR)) return 0;
    if (bytes != expected)
        return perf_test_fail(error, "the example cannot receive: %s", bytes < 0 ? strerror(errno) : "a wrong length");
    memcpy(taken->source, self->message->source, sizeof taken->source);
    taken->time_ns = self->message->time_ns;
    taken->id = self->message->id;
    taken->payload = self->message->payload;
    taken->payload_bytes = self->payload_bytes;
    taken->length_bytes = self->plan->message.bytes;
    return 1;
}

static int wait_for_message(void *subscription, int64_t timeout_ns, perf_test_error *error) {
    struct pollfd socket = {.fd = ((struct endpoint *)subscription)->socket, .events = POLLIN};
    struct timespec timeout = {.tv_sec = timeout_ns / 1000000000, .tv_nsec = timeout_ns % 1000000000};
    if (ppoll(&socket, 1, &timeout, NULL) >= 0 || errno == EINTR) return 0;
    return perf_test_fail(error, "the example cannot wait: %s", strerror(errno));
}

static int check(const perf_test_run *run, perf_test_daemons *daemons, perf_test_error *error) {
    if (run->message.bytes <= MOST_BYTES) return (void)daemons, 0; /* it needs no daemons */
    return perf_test_fail(error, "the example moves at most %d bytes and not %s: use -m Array64k or a smaller one",
                          MOST_BYTES, run->message.name);
}

/* Sockets need no session, so the run serves as the session. */
static void *open_session(const perf_test_run *run, perf_test_error *error) { return (void)error, (void *)run; }

/* All options that the declared capabilities allow are in effect. */
static void effective(void *session, perf_test_effective *effective) {
    const perf_test_run *run = session;
    for (size_t i = 0; i < run->option_count; i++)
        perf_test_effective_set(effective, run->options[i].name, run->options[i].value);
}

static const perf_test_backend backend = {
    .version = PERF_TEST_BACKEND_VERSION,
    .name = "example",
    .middleware_version = "1.0",
    .capabilities = {.reliability = PERF_TEST_RELIABLE, .durability = PERF_TEST_VOLATILE, .history = PERF_TEST_KEEP_ALL,
                     .wait = PERF_TEST_SPIN | PERF_TEST_BLOCK | PERF_TEST_ADAPTIVE,
                     .delivery = PERF_TEST_PULL, .matching = PERF_TEST_MATCHING_COUNT,
                     .copies = true, .sources = true, .raw = true},
    .check = check,
    .open = open_session,
    .effective = effective,
    .publisher = {{matched, .destroy = destroy}, .create = create, .publish = publish, .source = source},
    .subscription = {{matched, .destroy = destroy}, .create = create, .take = take, .wait = wait_for_message},
};

int main(int argc, char **argv) { return perf_test_worker_main(argc, argv, &backend); }
