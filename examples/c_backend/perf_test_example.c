/* A back end of perf_test: Unix datagram sockets. Each endpoint is a socket with a name in XDG_RUNTIME_DIR or /tmp, and
 * is alive if the socket accepts a connection. The kernel's queue of a socket is the history, so it is KEEP_ALL: a
 * RELIABLE publisher waits while a queue is full, and a BEST_EFFORT publisher goes on without that one. */
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <poll.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "perf_test_backend.h"

#define PREFIX "perf_test_example-"
enum { MOST_BYTES = 64 * 1024, MOST_PEERS = 64, STAMP_BYTES = 16 };

/* A message on its way: the id of its publisher, and a body of time, id and payload. */
struct message { uint8_t source[16]; int64_t time_ns; uint64_t id; uint8_t payload[MOST_BYTES]; };

struct endpoint {
    int socket, sender, send_flags, peer_count;
    char peer_prefix[80];
    struct sockaddr_un name, peers[MOST_PEERS];
    uint64_t last_id;
    size_t payload_bytes;
    struct message message;
};

static struct sockaddr_un address(const char *file) {
    const char *folder = getenv("XDG_RUNTIME_DIR");
    struct sockaddr_un name = {.sun_family = AF_UNIX};
    snprintf(name.sun_path, sizeof name.sun_path, "%s/%s", folder && *folder ? folder : "/tmp", file);
    return name;
}

/* Finds the live sockets whose names begin with `prefix` and returns their number. With `found` NULL, removes the dead. */
static int find(int sender, const char *prefix, struct sockaddr_un *found, perf_test_error *error) {
    struct sockaddr_un folder = address("");
    DIR *dir = opendir(folder.sun_path);
    if (!dir) return perf_test_fail(error, "the example cannot read %s: %s", folder.sun_path, strerror(errno));
    int count = 0;
    for (struct dirent *file; count < MOST_PEERS && (file = readdir(dir));) {
        if (strncmp(file->d_name, prefix, strlen(prefix)) != 0) continue;
        struct sockaddr_un name = address(file->d_name);
        bool alive = connect(sender, (struct sockaddr *)&name, sizeof name) == 0;
        if (alive && found) found[count++] = name;
        if (!alive && !found && errno == ECONNREFUSED) unlink(name.sun_path);
    }
    closedir(dir);
    return count;
}

static int clean_up(const perf_test_run *run, perf_test_error *error) {
    int sender = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0), result = find(sender, PREFIX, NULL, error);
    return (void)run, close(sender), result;
}

/* There is nothing to open; the run is the session. */
static void *open_session(const perf_test_run *run, perf_test_error *error) { return (void)error, (void *)run; }

/* The endpoints carry out all options that the capabilities let through. */
static void effective(void *session, perf_test_effective *effective) {
    const perf_test_run *run = session;
    for (size_t i = 0; i < run->option_count; i++)
        perf_test_effective_set(effective, run->options[i].name, run->options[i].value);
}

static void destroy(void *endpoint) {
    struct endpoint *self = endpoint;
    unlink(self->name.sun_path);
    close(self->socket);
    close(self->sender);
    free(self);
}

static void *create(const perf_test_run *run, const perf_test_endpoint *plan, char kind, char peers,
                    perf_test_error *error) {
    static atomic_int next;
    int number = ++next;
    char topic[60], file[80];
    struct timeval patience = {.tv_sec = 5};
    struct endpoint *self = plan->message.bytes <= MOST_BYTES ? calloc(1, sizeof *self) : NULL;
    if (!self)
        return perf_test_fail(error, "the example moves at most %d bytes and not %s: use -m Array64k or a smaller one",
                              MOST_BYTES, plan->message.name), NULL;
    uint64_t hash = 14695981039346656037u; /* FNV-1a, as the name of a topic may be longer than that of a socket */
    for (const char *c = plan->topic; *c; c++) hash = (hash ^ (uint8_t)*c) * 1099511628211u;
    snprintf(topic, sizeof topic, PREFIX "%u-%016llx", run->domain_id, (unsigned long long)hash);
    snprintf(self->peer_prefix, sizeof self->peer_prefix, "%s-%c-", topic, peers);
    snprintf(file, sizeof file, "%s-%c-%d-%d", topic, kind, getpid(), number);
    self->name = address(file);
    memcpy(self->message.source, (int[4]){getpid(), number}, sizeof self->message.source);
    self->last_id = plan->message.last_id;
    self->payload_bytes = plan->message.bytes > STAMP_BYTES ? plan->message.bytes - STAMP_BYTES : 0;
    self->send_flags = plan->qos.reliability == PERF_TEST_RELIABLE ? 0 : MSG_DONTWAIT;
    self->socket = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    self->sender = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    setsockopt(self->sender, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience);
    if (bind(self->socket, (struct sockaddr *)&self->name, sizeof self->name) == 0) return self;
    perf_test_fail(error, "the example cannot create %s: %s", self->name.sun_path, strerror(errno));
    return destroy(self), NULL;
}

static void *create_publisher(void *session, const perf_test_run *run, const perf_test_endpoint *plan,
                              perf_test_error *error) {
    return (void)session, create(run, plan, 'p', 's', error);
}

static void *create_subscription(void *session, const perf_test_run *run, const perf_test_endpoint *plan,
                                 perf_test_error *error) {
    return (void)session, create(run, plan, 's', 'p', error);
}

static int64_t matched(void *endpoint, perf_test_error *error) {
    struct endpoint *self = endpoint;
    return self->peer_count = find(self->sender, self->peer_prefix, self->peers, error);
}

static bool source(void *publisher, uint8_t source[16]) {
    return memcpy(source, ((struct endpoint *)publisher)->message.source, 16), true;
}

static int publish(void *publisher, perf_test_draft *draft, perf_test_sent *way, perf_test_error *error) {
    struct endpoint *self = publisher;
    size_t bytes = offsetof(struct message, payload) + self->payload_bytes;
    perf_test_draft_write(draft, self->message.payload, self->payload_bytes);
    perf_test_stamp stamp = perf_test_draft_stamp(draft);
    self->message.time_ns = stamp.time_ns;
    self->message.id = stamp.id & self->last_id;
    for (struct sockaddr_un *peer = self->peers; peer < self->peers + self->peer_count; peer++) {
        struct sockaddr *to = (struct sockaddr *)peer;
        if (sendto(self->sender, &self->message, bytes, self->send_flags, to, sizeof *peer) >= 0) continue;
        bool is_gone = errno == ECONNREFUSED || errno == ENOENT, is_lost = errno == EAGAIN && self->send_flags != 0;
        if (!is_gone && !is_lost)
            return perf_test_fail(error, "the example cannot send to %s: %s", peer->sun_path, strerror(errno));
    }
    return (void)way, 0; /* `way` says that the message was copied, as it is all zeros */
}

static int take(void *subscription, perf_test_taken *taken, perf_test_error *error) {
    struct endpoint *self = subscription;
    ssize_t bytes = recv(self->socket, &self->message, sizeof self->message, 0);
    taken->received_ns = perf_test_now_ns();
    if (bytes < 0 && (errno == EAGAIN || errno == EINTR)) return 0;
    if (bytes < (ssize_t)offsetof(struct message, payload))
        return perf_test_fail(error, "the example cannot receive: %s", bytes < 0 ? strerror(errno) : "no message");
    memcpy(taken->source, self->message.source, sizeof taken->source);
    taken->time_ns = self->message.time_ns;
    taken->id = self->message.id;
    taken->payload = self->message.payload;
    taken->payload_bytes = (size_t)bytes - offsetof(struct message, payload);
    taken->length_bytes = STAMP_BYTES + taken->payload_bytes;
    return 1;
}

static int wait_for_message(void *subscription, int64_t timeout_ns, perf_test_error *error) {
    struct pollfd socket = {.fd = ((struct endpoint *)subscription)->socket, .events = POLLIN};
    struct timespec timeout = {.tv_sec = timeout_ns / 1000000000, .tv_nsec = timeout_ns % 1000000000};
    if (ppoll(&socket, 1, &timeout, NULL) >= 0 || errno == EINTR) return 0;
    return perf_test_fail(error, "the example cannot wait: %s", strerror(errno));
}

static const perf_test_backend backend = {
    .version = PERF_TEST_BACKEND_VERSION,
    .name = "example",
    .middleware_version = "1.0",
    .capabilities = {.reliability = PERF_TEST_RELIABLE | PERF_TEST_BEST_EFFORT, .durability = PERF_TEST_VOLATILE,
                     .history = PERF_TEST_KEEP_ALL, .wait = PERF_TEST_SPIN | PERF_TEST_BLOCK | PERF_TEST_ADAPTIVE,
                     .delivery = PERF_TEST_PULL, .matching = PERF_TEST_MATCHING_COUNT,
                     .copies = true, .sources = true, .raw = true},
    .clean_up = clean_up,
    .open = open_session,
    .effective = effective,
    .publisher = {.matched = {.matched = matched, .destroy = destroy},
                  .create = create_publisher, .publish = publish, .source = source},
    .subscription = {.matched = {.matched = matched, .destroy = destroy},
                     .create = create_subscription, .take = take, .wait = wait_for_message},
};

int main(int argc, char **argv) { return perf_test_worker_main(argc, argv, &backend); }
