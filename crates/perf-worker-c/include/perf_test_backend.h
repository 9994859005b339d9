/*
 * A back end of perf_test in C or C++. The loops that measure all other middlewares measure it, too.
 *
 * A program with a back end is named perf_test_<name> and is in the folder of perf_test or on the PATH, where
 * `perf_test -c <name>` finds it. Its main function passes a perf_test_backend, a struct of functions, to
 * perf_test_worker_main(). perf_test does the scheduling, reads the clock, writes the stamps, and computes losses,
 * histograms and reports. A back end sends messages and reports when they arrived. All other work of its functions
 * (allocations, locks, copies) is part of the measurement. examples/c_backend is a complete program.
 *
 * Units      Times are nanoseconds of CLOCK_MONOTONIC (perf_test_now_ns). Names of fields end in their units.
 * Strings    Strings end with a byte 0. Strings from perf_test are UTF-8 and belong to perf_test. perf_test copies the
 *            strings that it gets at once.
 * Pointers   A pointer to a struct is valid during the call, unless its documentation states a longer time. Structs
 *            that a back end fills are all zeros at first.
 * Values     Values such as PERF_TEST_RELIABLE are single bits, so that capabilities can be sets of them.
 * Errors     A function that fails calls perf_test_fail(error, "reason and remedy, a sentence", ...), and returns -1 or
 *            NULL.
 * Threads    Functions that get a session are called on any thread, even at the same time, after `open` has returned.
 *            Functions of an endpoint are called on the thread that created the endpoint. In an executor they are
 *            called on any thread, but not at the same time, except for `overwritten`. No function may end by a C++
 *            exception or by longjmp.
 * Optional   Functions marked as optional may be NULL; all others are required.
 * Memory     If messages are copied, write the whole memory of a message once when an endpoint is created. Pages that
 *            were never written all refer to one page of zeros, which would be copied from the cache.
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

/* The version of this header. The library also accepts back ends of version 1, which has no executors, and of version
   2, whose executors have no services. It refuses later versions with an error sentence. */
#define PERF_TEST_BACKEND_VERSION 3

/* ---- Errors ---- */

/* The error sentence of a function. */
typedef struct perf_test_error {
    char sentence[1024];
} perf_test_error;

/* Formats an error sentence like printf, and returns -1. A sentence that is too long is cut off. */
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
    PERF_TEST_PLAIN = 1,            /* a plain struct of fixed size */
    PERF_TEST_FIELDS = 2,           /* a struct of fixed size with fields that are not all numbers */
    PERF_TEST_BOUNDED_SEQUENCE = 4, /* a bounded sequence that is filled to its bound */
    PERF_TEST_SEQUENCE = 8,         /* a sequence of unbounded_bytes bytes */
    PERF_TEST_TEXT = 16             /* a text of unbounded_bytes bytes */
};

/* Reliability, durability and history. */
enum { PERF_TEST_RELIABLE = 1, PERF_TEST_BEST_EFFORT = 2 };
enum { PERF_TEST_TRANSIENT_LOCAL = 1, PERF_TEST_VOLATILE = 2 };
enum { PERF_TEST_KEEP_LAST = 1, PERF_TEST_KEEP_ALL = 2 };

/* How a subscription waits: it polls and never sleeps; it sleeps at once; it waits in the middleware's default way. */
enum { PERF_TEST_SPIN = 1, PERF_TEST_BLOCK = 2, PERF_TEST_ADAPTIVE = 4 };

/* How messages reach a subscription: perf_test's thread takes them; threads of the middleware deliver them. */
enum { PERF_TEST_PULL = 1, PERF_TEST_PUSH = 2 };

/* The report of an endpoint about its matched endpoints: their number; whether there are any; nothing. */
enum { PERF_TEST_MATCHING_COUNT = 1, PERF_TEST_MATCHING_ANY = 2, PERF_TEST_MATCHING_UNKNOWN = 4 };

/* Where endpoints run: one process for the publishers and one for each subscription; threads of one process; one
   thread. */
enum { PERF_TEST_INTER_PROCESS = 1, PERF_TEST_INTER_THREAD = 2, PERF_TEST_INTRA_THREAD = 4 };

/* How callbacks of a node pass and get messages: unique_ptr, shared_ptr, loaned message. A publisher copies a message
   of the first two kinds in, and writes a loaned message in the middleware's memory. A subscription copies a message of
   the first kind out, and reads the others in place. If this is not possible, copy, and report it in
   perf_test_sent.loaned or perf_test_taken.loaned. */
enum { PERF_TEST_UNIQUE_PTR = 1, PERF_TEST_SHARED_PTR = 2, PERF_TEST_LOANED_MSG = 4 };

/* The kind of endpoint to create. */
enum { PERF_TEST_PUBLISHER = 1, PERF_TEST_SUBSCRIPTION = 2, PERF_TEST_CLIENT = 4, PERF_TEST_SERVER = 8 };

/* ---- The description of the middleware ---- */

/* The options that the middleware supports. perf_test refuses a run with other options. */
typedef struct perf_test_capabilities {
    uint32_t zero_copy;         /* contents that it loans and reads in place; 0: --zero-copy is refused */
    uint32_t reliability;       /* e.g. PERF_TEST_RELIABLE | PERF_TEST_BEST_EFFORT; never 0 */
    uint32_t durability;        /* never 0 */
    uint32_t history;           /* never 0 */
    uint32_t history_depth_max; /* 0: every value of the option is supported */
    uint32_t wait;              /* PERF_TEST_SPIN ...; ignored with push delivery */
    uint32_t delivery;          /* PERF_TEST_PULL or PERF_TEST_PUSH */
    uint32_t matching;          /* PERF_TEST_MATCHING_... */
    bool copies;                /* messages can be copied in and out; if not, a run needs --zero-copy */
    bool sources;               /* taken.source identifies the publisher; otherwise a topic has one publisher */
    bool raw;                   /* bytes without a type (--raw) can be sent: time, id (little-endian), payload */
    bool phases;                /* some of arrived_ns, in_hand_ns and serialised_ns are set (--phases) */
} perf_test_capabilities;       /* services and `overwritten` are capabilities if their functions exist */

/* A setting that users choose with --set NAME=VALUE. */
typedef struct perf_test_setting {
    const char *name;
    const char *const *values; /* the default first; ends with NULL. A single value is always in effect */
    const char *best;          /* the value that the documentation recommends for low latency; NULL: the default */
    const char *meaning;       /* without a full stop */
} perf_test_setting;

/* ---- The run and its endpoints, which perf_test fills ---- */

/* The type of messages, and their size. */
typedef struct perf_test_message {
    const char *name;         /* the name for -m, such as Array4m */
    const char *type_name;    /* such as performance_test/msg/Array4m; `perf_test idl -m NAME` prints its OMG IDL */
    const char *layout;       /* the layout by performance_test's version: 1.x or 2.x */
    uint32_t content;         /* PERF_TEST_PLAIN ... */
    uint32_t unbounded_bytes; /* payload if the type has no fixed size */
    uint64_t bytes;           /* its size, including time and id */
    uint64_t last_id;         /* the largest id that it can carry, all ones; messages carry `id & last_id` */
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

/* A run. Valid during the call; the run that `open` gets is valid until `close` has returned. */
typedef struct perf_test_run {
    const char *communicator;             /* the middleware as given with -c */
    const char *topic;                    /* as the user gave it; endpoints have the full name */
    const perf_test_name_value *settings; /* the value of each setting, including defaults */
    size_t setting_count;
    const perf_test_name_value *options;  /* the options that the middleware implements: see `effective` */
    size_t option_count;
    perf_test_message message;
    perf_test_qos qos;
    uint32_t domain_id;                   /* the ROS 2 domain, 0 to 232 */
    uint32_t rate_hz;                     /* messages per second of each publisher; 0: as fast as possible */
    uint32_t publishers;                  /* the number of publishers; 0: another program publishes */
    uint32_t subscriptions;
    uint32_t strategy;                    /* PERF_TEST_INTER_PROCESS ... */
    uint32_t wait;                        /* PERF_TEST_SPIN ... */
    bool round_trip;                      /* messages come back from a relay */
    bool zero_copy;                       /* messages are loaned and read in place instead of copied */
    bool raw;                             /* messages are bytes without a type */
    bool phases;                          /* the times of a transfer's phases are to be set */
    const char *executor;                 /* the kind of executor for endpoints; NULL: perf_test's threads */
} perf_test_run;

/* The plan of one endpoint. Valid until the endpoint is destroyed. */
typedef struct perf_test_endpoint {
    const char *topic;         /* the full name of the topic or service */
    perf_test_message message;
    perf_test_qos qos;
    uint32_t kind;             /* PERF_TEST_PUBLISHER ... */
    uint32_t index;            /* its number in reports, among the publishers, subscriptions or relays */
    uint32_t expected;         /* the number of matched endpoints that it awaits before the start */
    uint32_t executor;         /* endpoints of a process with the same number share a thread, or an executor */
    uint32_t pace_messages;    /* the number of messages in each pace_ns; 0: as fast as possible */
    int64_t pace_ns;
    const char *node;          /* in executors the full name of its node, such as /robot/camera; otherwise empty */
    uint32_t pass_by;          /* in executors PERF_TEST_UNIQUE_PTR ..., instead of run->zero_copy; otherwise 0 */
} perf_test_endpoint;

/* The value of the setting `name` in the run; NULL if the back end has no such setting. */
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
    int64_t time_ns;  /* the time of sending; 0 in a probe (a message before the start) */
    uint64_t id;      /* the first is 1 */
    uint32_t rate_hz; /* only iRobot's messages carry it */
} perf_test_stamp;

/* A message that is about to be sent; valid during `publish`. */
typedef struct perf_test_draft perf_test_draft;

/* Writes the payload according to --touch. Do not call it for texts, whose bytes must remain valid characters. */
void perf_test_draft_write(perf_test_draft *draft, void *payload, size_t bytes);

/* The stamp that `publish` must write into the message. Reads the clock, so it must be the last call before sending. */
perf_test_stamp perf_test_draft_stamp(perf_test_draft *draft);

/* How a message was sent. */
typedef struct perf_test_sent {
    uint64_t wire_bytes;   /* the bytes that it took on the wire; 0: not known, or no wire */
    int64_t serialised_ns; /* with run.phases, the time when it was serialised; 0: not known */
    bool loaned;           /* the message was written in the middleware's memory, so publishing copied nothing */
} perf_test_sent;

/* A message that was taken. */
typedef struct perf_test_taken {
    uint8_t source[16];    /* the publisher's id in the middleware; zeros: not known */
    int64_t time_ns;       /* the time in the stamp */
    uint64_t id;           /* the id in the stamp, at most last_id */
    int64_t received_ns;   /* required: perf_test_now_ns() after the middleware returned or copied the message */
    int64_t arrived_ns;    /* with run.phases, the time when the message reached this process; 0: not known */
    int64_t in_hand_ns;    /* with run.phases, the time when conversion of the bytes began; 0: not known */
    uint64_t length_bytes; /* the length of the message without its header */
    uint64_t wire_bytes;   /* the bytes that it took on the wire; 0: not known, or no wire */
    uint64_t overwritten;  /* the value of subscription.overwritten when it was taken */
    const void *payload;   /* the payload, in place or in the copy; NULL: there is none */
    size_t payload_bytes;
    bool loaned;           /* the message is read in the middleware's memory, so taking copied nothing */
} perf_test_taken;

/* The destination of messages that the middleware delivers; valid until the subscription's `stop` or the executor's
   `destroy` has returned. Any thread may use it. */
typedef struct perf_test_sink perf_test_sink;

/* Records a message. Its payload may become invalid after the call. Takes a lock; does not allocate. */
void perf_test_sink_taken(perf_test_sink *sink, const perf_test_taken *taken);

/* Reports that the delivery has ended with this error. */
void perf_test_sink_failed(perf_test_sink *sink, const char *sentence);

/* The part of perf_test that answers requests to a server in an executor; valid until the executor's `destroy` has
   returned. Any thread may use it. */
typedef struct perf_test_responder perf_test_responder;

/* To be called by the server's callback. Records a request, and publishes the response by the server's publisher before
   it returns. */
void perf_test_responder_request(perf_test_responder *responder, const perf_test_taken *request);

/* The timer of a publisher in an executor; valid until the executor's `destroy` has returned. Any thread may use it. */
typedef struct perf_test_timer perf_test_timer;

/* To be called by an executor without timers of its own. Publishes if the timer is due. Returns the time at which the
   timer is due next; INT64_MAX before the spin. */
int64_t perf_test_timer_run(perf_test_timer *timer);

/* To be called by the callback of the middleware's own timer. Publishes. `passed_over` is the number of periods that
   the timer skipped since its last callback, because it was late. */
void perf_test_timer_expired(perf_test_timer *timer, uint64_t passed_over);

/* ---- Lists that a back end fills ---- */

/* A daemon that the run starts before its workers and ends after them. The program must stay in the foreground and exit
   on SIGTERM. */
typedef struct perf_test_daemon {
    const char *name;
    const char *const *command; /* the program, searched for on the PATH, and its arguments; ends with NULL */
    const char *ready_file;     /* the daemon is ready when a new file or socket with this path exists, */
    const char *ready_line;     /* or when it has printed a line with this text; one of the two is NULL */
} perf_test_daemon;

typedef struct perf_test_daemons perf_test_daemons;
void perf_test_daemons_add(perf_test_daemons *daemons, const perf_test_daemon *daemon);

typedef struct perf_test_effective perf_test_effective;
void perf_test_effective_set(perf_test_effective *effective, const char *name, const char *value);

typedef struct perf_test_sentences perf_test_sentences;
void perf_test_sentences_add(perf_test_sentences *sentences, const char *sentence);

/* The clock of an endpoint that does not use this host's CLOCK_MONOTONIC. */
typedef struct perf_test_clock {
    int64_t offset_ns; /* CLOCK_MONOTONIC minus this clock */
    int64_t error_ns;  /* the largest error of the offset during the run */
} perf_test_clock;

/* The memory of the measured device (a microcontroller), bytes; 0: not known. */
typedef struct perf_test_device_memory {
    uint64_t text_bytes;
    uint64_t data_bytes;
    uint64_t bss_bytes;
    uint64_t stack_peak_bytes;
    uint64_t heap_peak_bytes;
} perf_test_device_memory;

/* ---- The functions of a back end ---- */

/* The common functions of publishers and subscriptions. `matched` and `mismatches` are called before the start. After
   it, they are called at most ten times a second, and only if no message has arrived or other programs publish. */
typedef struct perf_test_matched_functions {
    /* The number of endpoints that are matched now (with PERF_TEST_MATCHING_ANY, 1 means at least one); -1: failed.
       Does not wait. Optional with PERF_TEST_MATCHING_UNKNOWN. */
    int64_t (*matched)(void *endpoint, perf_test_error *error);
    /* Optional. Adds the reasons why other endpoints of the topic are not matched. */
    void (*mismatches)(void *endpoint, perf_test_sentences *sentences);
    /* Optional. Writes the clock of the times in a publisher's messages, or of a subscription's times of reception, if
       it is not CLOCK_MONOTONIC. Returns whether it wrote a clock. */
    bool (*clock)(void *endpoint, perf_test_clock *clock);
    /* Ends and frees the endpoint. If `start` has failed, it is called without `stop`. */
    void (*destroy)(void *endpoint);
} perf_test_matched_functions;

typedef struct perf_test_publisher_functions {
    perf_test_matched_functions matched;
    /* Creates a publisher on endpoint->topic; NULL: failed. May block. */
    void *(*create)(void *session, const perf_test_run *run, const perf_test_endpoint *endpoint,
                    perf_test_error *error);
    /* Sends one message: creates or loans it, calls perf_test_draft_write for its payload, gets its stamp with
       perf_test_draft_stamp as the last step, and sends it. May block while a history is full. For a relay and a
       server, perf_test calls it before the `release` of the taken message. 0: sent; -1: not sent, and the run
       continues with the next message. */
    int (*publish)(void *publisher, perf_test_draft *draft, perf_test_sent *sent, perf_test_error *error);
    /* Optional. Writes the id of this publisher in taken.source. Returns whether the publisher has an id. */
    bool (*source)(void *publisher, uint8_t source[16]);
} perf_test_publisher_functions;

/* `take` and `wait` are required with PERF_TEST_PULL, and for services outside of executors. `start` and `stop` are
   required with PERF_TEST_PUSH. */
typedef struct perf_test_subscription_functions {
    perf_test_matched_functions matched;
    /* Creates a subscription to endpoint->topic; NULL: failed. May block. */
    void *(*create)(void *session, const perf_test_run *run, const perf_test_endpoint *endpoint,
                    perf_test_error *error);
    /* Takes one message. Does not wait. The payload must stay valid until `release`. 1: taken; 0: there is no message;
       -1: failed, and the run continues with the next message. */
    int (*take)(void *subscription, perf_test_taken *taken, perf_test_error *error);
    /* Optional. Called when perf_test has read the last taken message. */
    void (*release)(void *subscription);
    /* Waits until there may be a message to take, at most timeout_ns. Not called with PERF_TEST_SPIN. 0: success; -1:
       failed. */
    int (*wait)(void *subscription, int64_t timeout_ns, perf_test_error *error);
    /* Starts to call perf_test_sink_taken for each message, on any thread. 0: success; -1: failed. */
    int (*start)(void *subscription, perf_test_sink *sink, perf_test_error *error);
    /* Ends the delivery, and returns when no call of the sink is running. 0: success; -1: failed. */
    int (*stop)(void *subscription, perf_test_error *error);
    /* Optional. The number of messages since the creation that left the history before they were taken. Without it,
       perf_test cannot explain losses. With push delivery it is called while messages are delivered. */
    uint64_t (*overwritten)(void *subscription);
} perf_test_subscription_functions;

/* A client or a server of a service, with the functions of publishers and subscriptions. A client sends requests and
   takes only the responses to its own requests. A response has the stamp of its request. A server takes a request, and
   publishes its response before `release`. */
typedef struct perf_test_service_end {
    void *publisher;
    void *subscription;
} perf_test_service_end;

/* An executor, which runs the callbacks of nodes: timers that publish or send requests, subscriptions, servers, and
   clients that get responses. perf_test creates the endpoints by the functions above and below, and adds them before
   `spin`. `spin` runs on a thread of its own; all other functions are called on the thread that created the executor.
   The callback of a subscription may publish messages by publishers of its node. */
typedef struct perf_test_executor_functions {
    /* Creates an executor of the kind run->executor; NULL: failed. */
    void *(*create)(void *session, const perf_test_run *run, perf_test_error *error);
    /* Adds a timer for a publisher to the node publisher->node. The period is pace_ns / pace_messages. The timer
       expires for the first time one period after the start. 0: success; -1: failed. */
    int (*add_timer)(void *executor, const perf_test_endpoint *publisher, perf_test_timer *timer,
                     perf_test_error *error);
    /* Adds a subscription, whose callback calls perf_test_sink_taken for each message. 0: success; -1: failed. */
    int (*add_subscription)(void *executor, void *subscription, perf_test_sink *sink, perf_test_error *error);
    /* Starts the timers at start_ns, a time in the future, and runs callbacks until `stop`. 0: stopped; -1: failed. */
    int (*spin)(void *executor, int64_t start_ns, perf_test_error *error);
    /* Ends the spin, even if the spin has not begun yet. Need not wait for the end. May also be called after the spin.
       */
    void (*stop)(void *executor);
    /* Called after the spin, and before the endpoints of the executor are destroyed. */
    void (*destroy)(void *executor);
    /* Since version 3, optional: add_client and add_server exist both or not at all, and need create_client and
       create_server. Adds a client, whose callback calls perf_test_sink_taken for each response. A timer sends its
       requests. 0: success; -1: failed. */
    int (*add_client)(void *executor, const perf_test_service_end *client, perf_test_sink *responses,
                      perf_test_error *error);
    /* Adds a server, whose callback calls perf_test_responder_request for each request. 0: success; -1: failed. */
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

    /* Optional. Checks whether the middleware supports the options of the run, beyond its capabilities, and adds the
       daemons that the run must start. Called before any process is started. 0: supported; -1: not supported, and the
       error sentence states the option and an alternative. */
    int (*check)(const perf_test_run *run, perf_test_daemons *daemons, perf_test_error *error);
    /* Optional. Removes the files of dead processes. Called before a run, and after a run in which a worker failed or
       was killed. 0: success; -1: failed. */
    int (*clean_up)(const perf_test_run *run, perf_test_error *error);

    /* Opens the middleware in this process. Called on the main thread before any endpoint is created. Returns the
       session, which other functions get; NULL: failed. The cost of the call counts as the middleware's. */
    void *(*open)(const perf_test_run *run, perf_test_error *error);
    /* Optional. Closes the session, after all endpoints have been destroyed. */
    void (*close)(void *session);
    /* Calls perf_test_effective_set with the value in effect of each setting in run->settings and each option in
       run->options. The run is refused if a value is missing or differs from the requested one. */
    void (*effective)(void *session, perf_test_effective *effective);
    /* Optional. If the run measures a device instead of this process, writes the memory of the device. Returns whether
       it did. */
    bool (*device_memory)(void *session, perf_test_device_memory *memory);

    perf_test_publisher_functions publisher;
    perf_test_subscription_functions subscription;

    /* Optional, both or none. Create a client, and the server, of the service endpoint->topic: in executors if these
       have add_client, elsewhere if subscriptions have `take` and `wait`. 0: success; -1: failed. */
    int (*create_client)(void *session, const perf_test_run *run, const perf_test_endpoint *endpoint,
                         perf_test_service_end *client, perf_test_error *error);
    int (*create_server)(void *session, const perf_test_run *run, const perf_test_endpoint *endpoint,
                         perf_test_service_end *server, perf_test_error *error);

    /* Optional. The kinds of executors that run nodes (perf_test topology), the default first; ends with NULL. A back
       end with executors must have PERF_TEST_MATCHING_COUNT and all functions of executors except the functions for
       services. In executors, perf_test does not call `wait`, `start` and `stop` of subscriptions, and only the
       executor calls `take` and `release`. */
    const char *const *executors;
    perf_test_executor_functions executor;
} perf_test_backend;

/* Executes the command in the arguments, and returns the exit code that main must return. `backend`, and everything to
   which it points, must live until the end of the process. */
int perf_test_worker_main(int argc, char **argv, const perf_test_backend *backend);

#ifdef __cplusplus
}
#endif

#endif
