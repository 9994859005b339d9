/*
 * A back end of perf_test in C or C++: a middleware that is measured by the same loops as every other.
 *
 * A program with a back end is named perf_test_<name> and lies beside perf_test or on the PATH; `perf_test -c <name>`
 * finds it. Its main passes a perf_test_backend, a struct of functions, to perf_test_worker_main(). perf_test keeps
 * schedule, clock, stamps, losses, histograms and reports. A back end moves messages and reports when they arrived. All
 * other work of its functions (allocations, locks, copies) is part of the measurement. examples/c_backend is complete.
 *
 * Units Times are nanoseconds of CLOCK_MONOTONIC (perf_test_now_ns). Names of fields end in their units. Strings end
 * with 0. Strings from perf_test are UTF-8 and belong to it; strings to perf_test are copied at once. Structs that
 * perf_test gives to be filled are all zeros. A pointer to a struct is valid during the call, unless a
 *            longer time is said.
 * Values     that are one of several (PERF_TEST_RELIABLE) are single bits, so that capabilities are sets of them.
 * Errors     A function fails with perf_test_fail(error, "reason and remedy, a sentence", ...), and returns -1 or NULL.
 * Threads    Functions that get a session are called on any thread, several at once, after `open` has returned.
 *            Functions of an endpoint are called on the thread that created it; of one in an executor on any thread, but
 *            not at the same time, except for `overwritten`. No function may end by an exception of C++ or by longjmp.
 * Optional   functions may be NULL; all others are required.
 * Memory     of messages that are copied is written once when an endpoint is created: pages that were never written are
 *            one page of zeros, which is copied from the cache.
 */
#ifndef PERF_TEST_BACKEND_H
#define PERF_TEST_BACKEND_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The version of this header. The library takes back ends of version 1, too, which has no executors, and of version 2,
   whose executors have no services, and refuses later ones with a sentence. */
#define PERF_TEST_BACKEND_VERSION 3

/* ---- Errors ---- */

/* The sentence of a function that fails. */
typedef struct perf_test_error {
    char sentence[1024];
} perf_test_error;

/* Writes the sentence of an error as printf does, and returns -1. A sentence that is too long is cut off. */
#ifdef __GNUC__
__attribute__((format(printf, 2, 3)))
#endif
static inline int perf_test_fail(perf_test_error *error, const char *format, ...) {
    va_list values;
    va_start(values, format);
    vsnprintf(error->sentence, sizeof error->sentence, format, values);
    va_end(values);
    return -1;
}

/* ---- Values ---- */

/* The content of a message. */
enum {
    PERF_TEST_PLAIN = 1,            /* a struct, always of the same size */
    PERF_TEST_FIELDS = 2,           /* fields that are not all numbers, always of the same size */
    PERF_TEST_BOUNDED_SEQUENCE = 4, /* a sequence that is sent at its capacity */
    PERF_TEST_SEQUENCE = 8,         /* a sequence of unbounded_bytes bytes */
    PERF_TEST_TEXT = 16             /* a text of unbounded_bytes bytes */
};

/* Reliability, durability and history. */
enum { PERF_TEST_RELIABLE = 1, PERF_TEST_BEST_EFFORT = 2 };
enum { PERF_TEST_TRANSIENT_LOCAL = 1, PERF_TEST_VOLATILE = 2 };
enum { PERF_TEST_KEEP_LAST = 1, PERF_TEST_KEEP_ALL = 2 };

/* How a subscription waits: it polls and never sleeps; it sleeps at once; the middleware's own way. */
enum { PERF_TEST_SPIN = 1, PERF_TEST_BLOCK = 2, PERF_TEST_ADAPTIVE = 4 };

/* How messages reach a subscription: perf_test's thread takes them; threads of the middleware deliver them. */
enum { PERF_TEST_PULL = 1, PERF_TEST_PUSH = 2 };

/* What an endpoint tells about the endpoints that it is matched with: how many; whether there are any; nothing. */
enum { PERF_TEST_MATCHING_COUNT = 1, PERF_TEST_MATCHING_ANY = 2, PERF_TEST_MATCHING_UNKNOWN = 4 };

/* One process for the publishers and one for each subscription; threads of one process; one thread. */
enum { PERF_TEST_INTER_PROCESS = 1, PERF_TEST_INTER_THREAD = 2, PERF_TEST_INTRA_THREAD = 4 };

/* The way in which the callbacks of a node hand over messages. A publisher copies an owned or a shared one in, and writes
   a loaned one in the middleware's memory. A subscription copies an owned one out, and reads others in place. Where that
   is not possible, it copies: see perf_test_sent.loaned, perf_test_taken.loaned. */
enum { PERF_TEST_UNIQUE_PTR = 1, PERF_TEST_SHARED_PTR = 2, PERF_TEST_LOANED_MSG = 4 };

/* The endpoint to create. */
enum { PERF_TEST_PUBLISHER = 1, PERF_TEST_SUBSCRIPTION = 2, PERF_TEST_CLIENT = 4, PERF_TEST_SERVER = 8 };

/* ---- The description of the middleware ---- */

/* What the middleware carries out. perf_test refuses a run with other options. */
typedef struct perf_test_capabilities {
    uint32_t zero_copy;         /* contents that it loans for writing and reads in place; 0: --zero-copy is refused */
    uint32_t reliability;       /* at least one of each of these: PERF_TEST_RELIABLE | PERF_TEST_BEST_EFFORT */
    uint32_t durability;
    uint32_t history;
    uint32_t history_depth_max; /* 0: as large as the option */
    uint32_t wait;              /* PERF_TEST_SPIN ...; of no meaning with push delivery */
    uint32_t delivery;          /* PERF_TEST_PULL or PERF_TEST_PUSH */
    uint32_t matching;          /* PERF_TEST_MATCHING_... */
    bool copies;                /* it copies messages in and out; if not, a run needs --zero-copy */
    bool sources;               /* taken.source tells publishers apart; without that, a topic has one publisher */
    bool raw;                   /* it sends bytes without a type (--raw): time, id (little-endian) and payload */
    bool phases;                /* it gives some of arrived_ns, in_hand_ns and serialised_ns (--phases) */
} perf_test_capabilities;       /* It has services, and counts overwritten messages, if their functions are there. */

/* A setting that users choose with --set NAME=VALUE. */
typedef struct perf_test_setting {
    const char *name;
    const char *const *values; /* the default first; ends with NULL. A single value is always in effect */
    const char *best;          /* the value that the documentation recommends for low latency; NULL: the default */
    const char *meaning;       /* without a full stop */
} perf_test_setting;

/* ---- The run and its endpoints; perf_test fills these ---- */

/* The type of messages, and their size. */
typedef struct perf_test_message {
    const char *name;         /* as for -m: Array4m */
    const char *type_name;    /* as performance_test/msg/Array4m. `perf_test idl -m NAME` prints its OMG IDL */
    const char *layout;       /* its generation: 1.x or 2.x */
    uint32_t content;         /* PERF_TEST_PLAIN ... */
    uint32_t unbounded_bytes; /* payload of a message that has no size of its own */
    uint64_t bytes;           /* its true size, time and id included */
    uint64_t last_id;         /* the largest id that it can carry, all ones: a message has the id `id & last_id` */
} perf_test_message;

/* Quality of service. */
typedef struct perf_test_qos {
    uint32_t reliability;
    uint32_t durability;
    uint32_t history;
    uint32_t depth; /* number of samples that PERF_TEST_KEEP_LAST keeps */
} perf_test_qos;

typedef struct perf_test_name_value {
    const char *name;
    const char *value;
} perf_test_name_value;

/* One run. Valid during the call; that of open until close has returned. */
typedef struct perf_test_run {
    const char *communicator;             /* the middleware as given with -c */
    const char *topic;                    /* as given; endpoints have the full name */
    const perf_test_name_value *settings; /* the value of each setting, defaults included */
    size_t setting_count;
    const perf_test_name_value *options;  /* the options that the middleware carries out: see effective */
    size_t option_count;
    perf_test_message message;
    perf_test_qos qos;
    uint32_t domain_id;                   /* of ROS 2: 0 to 232 */
    uint32_t rate_hz;                     /* messages per second of each publisher; 0: as fast as possible */
    uint32_t publishers;                  /* their number; 0: another program publishes */
    uint32_t subscriptions;
    uint32_t strategy;                    /* PERF_TEST_INTER_PROCESS ... */
    uint32_t wait;                        /* PERF_TEST_SPIN ... */
    bool round_trip;                      /* messages come back from a relay */
    bool zero_copy;                       /* messages are loaned and read in place, not copied in and out */
    bool raw;                             /* messages are bytes without a type */
    bool phases;                          /* the phases of a message's way are marked */
    const char *executor;                 /* endpoints run in executors of this name; NULL: on perf_test's threads */
} perf_test_run;

/* The plan of one endpoint. Valid until the endpoint is destroyed. */
typedef struct perf_test_endpoint {
    const char *topic;         /* the full name, or that of a service */
    perf_test_message message;
    perf_test_qos qos;
    uint32_t kind;             /* PERF_TEST_PUBLISHER ... */
    uint32_t index;            /* of the publisher, subscription or relay that it is in reports */
    uint32_t expected;         /* the number of endpoints of the other side for which it waits before the start */
    uint32_t executor;         /* endpoints of a process with the same number share a thread, or an executor */
    uint32_t pace_messages;    /* so many messages in pace_ns; 0: as fast as possible */
    int64_t pace_ns;
    const char *node;          /* in executors the full name of its node, as /robot/camera; empty otherwise */
    uint32_t pass_by;          /* in executors PERF_TEST_UNIQUE_PTR ..., in place of run->zero_copy; 0 otherwise */
} perf_test_endpoint;

/* The value of a setting of the run; NULL if the back end has none of that name. */
static inline const char *perf_test_run_setting(const perf_test_run *run, const char *name) {
    for (size_t i = 0; i < run->setting_count; i++) {
        if (strcmp(run->settings[i].name, name) == 0) return run->settings[i].value;
    }
    return NULL;
}

/* ---- Messages ---- */

/* CLOCK_MONOTONIC, nanoseconds. */
int64_t perf_test_now_ns(void);

/* The stamp of a message. */
typedef struct perf_test_stamp {
    int64_t time_ns;  /* the time of sending; 0 of a probe, sent before the start unless matching is counted */
    uint64_t id;      /* the first is 1 */
    uint32_t rate_hz; /* only iRobot's messages carry it */
} perf_test_stamp;

/* A message that is about to be sent; valid during publish. */
typedef struct perf_test_draft perf_test_draft;

/* Writes the payload according to --touch. Not for texts, whose bytes must stay characters. */
void perf_test_draft_write(perf_test_draft *draft, void *payload, size_t bytes);

/* The stamp of the message, which publish writes into it. Reads the clock, so it is the last call before sending. */
perf_test_stamp perf_test_draft_stamp(perf_test_draft *draft);

/* The way of a message that was sent. */
typedef struct perf_test_sent {
    uint64_t wire_bytes;   /* the bytes that it took on the wire; 0: not known, or there is none */
    int64_t serialised_ns; /* with run.phases, the time when it was serialised; 0: not known */
    bool loaned;           /* it was written in the middleware's memory, so that publishing copied nothing */
} perf_test_sent;

/* A message that was taken. */
typedef struct perf_test_taken {
    uint8_t source[16];    /* the publisher's id in the middleware; zeros: not known, then a topic has one publisher */
    int64_t time_ns;       /* the time in the message */
    uint64_t id;           /* the id in the message, up to last_id */
    int64_t received_ns;   /* required: perf_test_now_ns() when the middleware has returned it, or after the copy */
    int64_t arrived_ns;    /* with run.phases, the time when it reached this process; 0: not known */
    int64_t in_hand_ns;    /* with run.phases, the time when its bytes were there and conversion began; 0: not known */
    uint64_t length_bytes; /* length of its body */
    uint64_t wire_bytes;   /* the bytes that it took on the wire; 0: not known, or there is none */
    uint64_t overwritten;  /* subscription.overwritten when it was taken */
    const void *payload;   /* what perf_test_draft_write wrote, in place or in the copy; NULL: there is none */
    size_t payload_bytes;
    bool loaned;           /* it is read in the middleware's memory, so that taking copied nothing */
} perf_test_taken;

/* The destination of messages that the middleware delivers; valid until the subscription's `stop` or the executor's
   `destroy` has returned. Any thread may use it. */
typedef struct perf_test_sink perf_test_sink;

/* Records a message, whose payload need not stay longer. Takes a lock; does not allocate. */
void perf_test_sink_taken(perf_test_sink *sink, const perf_test_taken *taken);

/* The delivery has ended with this error. */
void perf_test_sink_failed(perf_test_sink *sink, const char *sentence);

/* The instrument's part of a server in an executor; valid until the executor's `destroy` has returned. Any thread may
   use it. */
typedef struct perf_test_responder perf_test_responder;

/* For the callback of the server: records a request, and has the server's publisher publish the response before it
   returns. */
void perf_test_responder_request(perf_test_responder *responder, const perf_test_taken *request);

/* The timer of a publisher in an executor; valid until the executor's `destroy` has returned. Any thread may use it. */
typedef struct perf_test_timer perf_test_timer;

/* For an executor without timers of its own. If the timer is due, it publishes. Returns when the timer is due next, and
   INT64_MAX before the spin. */
int64_t perf_test_timer_run(perf_test_timer *timer);

/* For the callback of the middleware's own timer: publishes. The timer passed over so many periods since its last callback,
   because it was late. */
void perf_test_timer_expired(perf_test_timer *timer, uint64_t passed_over);

/* ---- Answers of a back end that are lists ---- */

/* A daemon that the run starts before its workers and ends after them. It stays in the foreground and ends on
   SIGTERM. */
typedef struct perf_test_daemon {
    const char *name;
    const char *const *command; /* the program, looked for on the PATH, and its arguments; ends with NULL */
    const char *ready_file;     /* it is ready when a new file or socket of this path exists, */
    const char *ready_line;     /* or when it has printed a line with this text; the other one is NULL */
} perf_test_daemon;

typedef struct perf_test_daemons perf_test_daemons;
void perf_test_daemons_add(perf_test_daemons *daemons, const perf_test_daemon *daemon);

typedef struct perf_test_effective perf_test_effective;
void perf_test_effective_set(perf_test_effective *effective, const char *name, const char *value);

typedef struct perf_test_sentences perf_test_sentences;
void perf_test_sentences_add(perf_test_sentences *sentences, const char *sentence);

/* The clock of an endpoint that does not have this host's CLOCK_MONOTONIC. */
typedef struct perf_test_clock {
    int64_t offset_ns; /* CLOCK_MONOTONIC minus this clock */
    int64_t error_ns;  /* the offset is at most this much wrong during the run */
} perf_test_clock;

/* The memory of the device that is measured, bytes; 0: not known. */
typedef struct perf_test_device_memory {
    uint64_t text_bytes;
    uint64_t data_bytes;
    uint64_t bss_bytes;
    uint64_t stack_peak_bytes;
    uint64_t heap_peak_bytes;
} perf_test_device_memory;

/* ---- The functions of a back end ---- */

/* What publishers and subscriptions have in common. `matched` and `mismatches` are called before the start, and
   afterwards at most ten times a second, if no message has come or other programs publish. */
typedef struct perf_test_matched_functions {
    /* The number of endpoints of the other side that are matched now (with PERF_TEST_MATCHING_ANY, 1 for some); -1:
       failed. Does not wait. Optional with PERF_TEST_MATCHING_UNKNOWN. */
    int64_t (*matched)(void *endpoint, perf_test_error *error);
    /* Optional. Adds the reasons why others on the topic are not matched. */
    void (*mismatches)(void *endpoint, perf_test_sentences *sentences);
    /* Optional. Writes the clock of the times in a publisher's messages, or of a subscription's times of reception, if
       it is another one. Returns whether it is. */
    bool (*clock)(void *endpoint, perf_test_clock *clock);
    /* Ends the endpoint and frees it, also without `stop` if `start` has failed. */
    void (*destroy)(void *endpoint);
} perf_test_matched_functions;

typedef struct perf_test_publisher_functions {
    perf_test_matched_functions matched;
    /* A publisher of endpoint->topic; NULL: failed. May block. */
    void *(*create)(void *session, const perf_test_run *run, const perf_test_endpoint *endpoint,
                    perf_test_error *error);
    /* Sends one message: creates or loans it, calls perf_test_draft_write for its payload, gets its stamp with
       perf_test_draft_stamp as the last step, and sends it. May block while a history is full. A relay and a server
       publish before the `release` of the message that they have taken. 0: sent; -1: not sent, and the next one is
       tried. */
    int (*publish)(void *publisher, perf_test_draft *draft, perf_test_sent *sent, perf_test_error *error);
    /* Optional. Writes the id that its messages have in taken.source. Returns whether it has one. */
    bool (*source)(void *publisher, uint8_t source[16]);
} perf_test_publisher_functions;

/* With PERF_TEST_PULL, and for services outside of executors, `take` and `wait` are required, with PERF_TEST_PUSH
   `start` and `stop`. */
typedef struct perf_test_subscription_functions {
    perf_test_matched_functions matched;
    /* A subscription to endpoint->topic; NULL: failed. May block. */
    void *(*create)(void *session, const perf_test_run *run, const perf_test_endpoint *endpoint,
                    perf_test_error *error);
    /* Takes one message. 1: taken; 0: there is none; -1: failed, the next one is tried. Does not wait. The payload
       stays until `release`. */
    int (*take)(void *subscription, perf_test_taken *taken, perf_test_error *error);
    /* Optional. perf_test has read the message that was taken last. */
    void (*release)(void *subscription);
    /* Waits until there may be something to take, at most timeout_ns. 0: good; -1: failed. Not with PERF_TEST_SPIN. */
    int (*wait)(void *subscription, int64_t timeout_ns, perf_test_error *error);
    /* Calls perf_test_sink_taken for each message from now on, on any thread. 0: good; -1: failed. */
    int (*start)(void *subscription, perf_test_sink *sink, perf_test_error *error);
    /* Delivers no more; returns when no delivery is running. 0: good; -1: failed. */
    int (*stop)(void *subscription, perf_test_error *error);
    /* Optional. The number of messages that left the history before they were taken, since the creation. Without it,
       losses are unexplained. With push delivery it is called while deliveries run. */
    uint64_t (*overwritten)(void *subscription);
} perf_test_subscription_functions;

/* One side of a service, with the functions of publishers and subscriptions. A client sends requests and takes
   responses, which have the stamps of their requests; those to other clients it does not take. A server takes a request,
   and publishes its response before `release`. */
typedef struct perf_test_service_end {
    void *publisher;
    void *subscription;
} perf_test_service_end;

/* An executor: it runs the callbacks of nodes, which are timers that publish and send requests, subscriptions, servers,
   and clients that get responses. perf_test creates the endpoints by the functions above and below and adds them before
   `spin`, which has a thread of its own; all other functions are called on the thread that created the executor. The
   callback of a subscription may publish by publishers of its node. */
typedef struct perf_test_executor_functions {
    /* An executor of the kind run->executor; NULL: failed. */
    void *(*create)(void *session, const perf_test_run *run, perf_test_error *error);
    /* Adds a timer for a publisher of its node publisher->node. Its period is pace_ns / pace_messages, and it expires for
       the first time one period after the start. 0: good; -1: failed. */
    int (*add_timer)(void *executor, const perf_test_endpoint *publisher, perf_test_timer *timer,
                     perf_test_error *error);
    /* Adds a subscription, whose callback calls perf_test_sink_taken for each message. 0: good; -1: failed. */
    int (*add_subscription)(void *executor, void *subscription, perf_test_sink *sink, perf_test_error *error);
    /* Starts the timers at start_ns, which lies ahead, and runs callbacks until `stop`. 0: stopped; -1: failed. */
    int (*spin)(void *executor, int64_t start_ns, perf_test_error *error);
    /* Ends the spin, also one that has not begun, and need not wait for its end. Also called after it. */
    void (*stop)(void *executor);
    /* Called after the spin, and before its endpoints are destroyed. */
    void (*destroy)(void *executor);
    /* Since version 3. Optional, both or none, with create_client and create_server. Adds a client, whose callback calls
       perf_test_sink_taken for each response; a timer sends its requests. 0: good; -1: failed. */
    int (*add_client)(void *executor, const perf_test_service_end *client, perf_test_sink *responses,
                      perf_test_error *error);
    /* Adds a server, whose callback calls perf_test_responder_request for each request. 0: good; -1: failed. */
    int (*add_server)(void *executor, const perf_test_service_end *server, perf_test_responder *requests,
                      perf_test_error *error);
} perf_test_executor_functions;

/* A middleware. */
typedef struct perf_test_backend {
    uint32_t version;               /* PERF_TEST_BACKEND_VERSION */
    const char *name;               /* for -c, headings and logs */
    const char *middleware_version;
    perf_test_capabilities capabilities;
    const perf_test_setting *settings;
    size_t setting_count;

    /* Optional. Checks whether it supports the options of the run, beyond its capabilities, and adds the daemons that
       the run must start. Called before any process is started. 0: yes; -1: no, and the sentence has the option and the
       alternative. */
    int (*check)(const perf_test_run *run, perf_test_daemons *daemons, perf_test_error *error);
    /* Optional. Removes the files of dead processes. Called before a run, and after one in which a worker did not end
       well. 0: good; -1: failed. */
    int (*clean_up)(const perf_test_run *run, perf_test_error *error);

    /* Opens the middleware in this process, on the main thread, before there are endpoints. Returns the session, which
       other functions get; NULL: failed. Its cost is that of the middleware. */
    void *(*open)(const perf_test_run *run, perf_test_error *error);
    /* Optional. Closes it after all endpoints have been destroyed. */
    void (*close)(void *session);
    /* Calls perf_test_effective_set with the value in effect of each of run->settings and run->options. A run with
       another value than the one that was asked for, or with none, does not begin. */
    void (*effective)(void *session, perf_test_effective *effective);
    /* Optional. Writes the memory of the device that is measured, if it is not this process. Returns whether it did. */
    bool (*device_memory)(void *session, perf_test_device_memory *memory);

    perf_test_publisher_functions publisher;
    perf_test_subscription_functions subscription;

    /* Optional, both or none. A client and the server of the service endpoint->topic, in executors if these have
       add_client, and elsewhere if subscriptions have `take` and `wait`. 0: good; -1: failed. */
    int (*create_client)(void *session, const perf_test_run *run, const perf_test_endpoint *endpoint,
                         perf_test_service_end *client, perf_test_error *error);
    int (*create_server)(void *session, const perf_test_run *run, const perf_test_endpoint *endpoint,
                         perf_test_service_end *server, perf_test_error *error);

    /* Optional. The names of the executors in which nodes run (perf_test topology), the default first; ends with NULL.
       Matching is PERF_TEST_MATCHING_COUNT then, and all functions of executors but those for services are required. In
       executors the functions `wait`, `start` and `stop` of subscriptions are not called, and `take` and `release` only by
       the executor. */
    const char *const *executors;
    perf_test_executor_functions executor;
} perf_test_backend;

/* Does what the arguments order, and returns the exit code of the program: main returns it. `backend` and all that it
   points to live until the end of the process. */
int perf_test_worker_main(int argc, char **argv, const perf_test_backend *backend);

#ifdef __cplusplus
}
#endif

#endif
