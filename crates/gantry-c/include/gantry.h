/*
 * Gantry in C: nodes, topics, services, timers, events and wait sets over shared memory, as ROS 2 names them.
 *
 *   cc program.c $(pkg-config --cflags --libs gantry)
 *
 * Messages are bytes: a CDR body as ROS 2 has it on the wire (XCDR1, little endian), without the four bytes of
 * encapsulation. Its first byte lies at a multiple of 8. `gantry_type` says which type they are; Gantry checks the
 * length of a message if its type has only one length, not its contents. For C++ there is `gantry.hpp`, with classes
 * for messages.
 *
 * STATUS. A function that can fail returns a `gantry_status`: GANTRY_OK, or a positive number if there was nothing, or
 * a negative one after a failure. `gantry_last_error` then has a sentence with the values and what to do next.
 *
 * HANDLES. A pointer to a `gantry_…` that a function here returned is a handle.
 * - The caller frees it with the `_destroy` function of its kind, in any order: a publisher outlives its node, a loan
 *   its publisher, a sample its subscription. `_destroy(NULL)` does nothing.
 * - One thread at a time uses a handle; it may be another thread each time. Nodes, guard conditions, timers and lists
 *   (`gantry_strings` …) may be used by any number of threads at once, except for `_destroy`.
 * - A text that a handle returns stays until the handle is destroyed. A descriptor belongs to the handle: do not close
 *   it.
 *
 * STRUCTS that begin with `struct_size` may get more fields at their end in a later version; all other structs stay as
 * they are. Set `struct_size` to the `sizeof` of the struct before the call: `gantry_qos qos = {.struct_size = sizeof qos}`.
 * - Options are passed by a pointer, which may be NULL for the defaults. Set what you do not set to 0, `reserved` too: 0 is
 *   the default of each field.
 * - Results (`gantry_sample_info` …) get the fields that the caller's header has. The library leaves `struct_size`.
 * So a program that was compiled with an older header works with a newer library.
 *
 * LOANS AND SAMPLES are structs that the caller keeps by value: `= {0}` is empty. They may be moved, and must not be
 * used twice: after a copy, use only one of both. A function that gives one overwrites what the struct held, so release
 * or publish that first; if the function gives none, the struct is empty.
 *
 * TIME. All times are nanoseconds. A negative timeout is no limit, 0 does not wait. A shutdown (`gantry_shutdown`,
 * SIGINT after `gantry_init`) ends each wait as a timeout.
 *
 * REAL TIME. *Data path*: the function allocates nothing, takes no lock, does not block, and makes no system call but
 * the one that wakes a sleeping reader; exceptions stand at the function. Functions that are not marked may allocate,
 * block and make system calls.
 *
 * A forked child uses no handle of its parent: functions return GANTRY_FORKED. It may destroy nodes, publishers,
 * subscriptions, services and clients, and make its own. No function may be called in a signal handler.
 *
 * Environment: ROS_DOMAIN_ID, GANTRY_SHM_DIR, GANTRY_LOG (off, error, warn, info, debug).
 */
#ifndef GANTRY_H
#define GANTRY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The version of this header; `gantry_abi_version` has the version of the library. A library works with each header of
 * its version or an older one. */
#define GANTRY_ABI_VERSION 1

typedef int32_t gantry_status;

enum {
    GANTRY_OK = 0,
    /* There was nothing to take. */
    GANTRY_NONE = 1,
    /* The time is over, or the program shuts down. */
    GANTRY_TIMEOUT = 2,

    GANTRY_ERROR = -1,
    /* An argument is not allowed: NULL, a name, a length, a number out of range. */
    GANTRY_INVALID_ARGUMENT = -2,
    /* No room in shared memory, or the publisher's limit is reached. */
    GANTRY_NO_MEMORY = -3,
    /* The other end of the topic or service has another type. */
    GANTRY_TYPE_MISMATCH = -4,
    GANTRY_INCOMPATIBLE_QOS = -5,
    /* RELIABLE KEEP_ALL subscriptions did not take in time; the loan is the caller's still. */
    GANTRY_BLOCKED = -6,
    /* The limit of `gantry_subscription_set_max_held_samples`. */
    GANTRY_TOO_MANY_HELD = -7,
    /* Shared memory of another process is invalid. */
    GANTRY_CORRUPT = -8,
    /* The handle belongs to the parent process. */
    GANTRY_FORKED = -9,
    GANTRY_NO_SERVER = -10,
    /* All servers that received the request ended. */
    GANTRY_SERVER_GONE = -11,
    GANTRY_RESPONSE_LOST = -12,
    GANTRY_CALL_TIMEOUT = -13,
    GANTRY_TOO_MANY_REQUESTS = -14,
    GANTRY_SHUT_DOWN = -15,
    /* A bug of Gantry. The handle may be destroyed, and not used otherwise. */
    GANTRY_PANICKED = -16
};

typedef struct gantry_node gantry_node;
typedef struct gantry_publisher gantry_publisher;
typedef struct gantry_subscription gantry_subscription;
typedef struct gantry_service gantry_service;
typedef struct gantry_client gantry_client;
typedef struct gantry_timer gantry_timer;
typedef struct gantry_guard_condition gantry_guard_condition;
typedef struct gantry_events gantry_events;
typedef struct gantry_wait_set gantry_wait_set;
typedef struct gantry_strings gantry_strings;
typedef struct gantry_types gantry_types;
typedef struct gantry_service_types gantry_service_types;
typedef struct gantry_endpoints gantry_endpoints;
typedef struct gantry_loan_owner gantry_loan_owner;
typedef struct gantry_sample_owner gantry_sample_owner;

/* The id of an endpoint: 16 bytes, unique. */
typedef struct gantry_gid {
    uint8_t bytes[16];
} gantry_gid;

/* The id of a request: the gid of its client, and the client's number for it: 1, 2, … */
typedef struct gantry_request_id {
    gantry_gid client_gid;
    uint64_t sequence;
} gantry_request_id;

/* The type of a message. Endpoints match if names and hashes agree; if a hash is zeros, the definitions must agree. */
typedef struct gantry_type {
    size_t struct_size;
    /* As "sensor_msgs/msg/Image". */
    const char *name;
    /* The text of the .msg file and of all messages in it, as bags have it; NULL is none. Tools print messages by it. */
    const char *definition;
    /* The length of the longest message; 0 if there is no limit. */
    size_t max_bytes;
    /* RIHS01, as ROS 2 computes it; zeros if it is not known. */
    uint8_t hash[32];
} gantry_type;

typedef struct gantry_service_type {
    size_t struct_size;
    /* As "std_srvs/srv/SetBool". */
    const char *name;
    /* The types "std_srvs/srv/SetBool_Request" and "std_srvs/srv/SetBool_Response". */
    const gantry_type *request;
    const gantry_type *response;
} gantry_service_type;

enum {
    GANTRY_RELIABILITY_RELIABLE = 0,
    GANTRY_RELIABILITY_BEST_EFFORT = 1,
    GANTRY_HISTORY_KEEP_LAST = 0,
    GANTRY_HISTORY_KEEP_ALL = 1,
    GANTRY_DURABILITY_VOLATILE = 0,
    GANTRY_DURABILITY_TRANSIENT_LOCAL = 1,
    GANTRY_LIVELINESS_AUTOMATIC = 0,
    GANTRY_LIVELINESS_MANUAL_BY_TOPIC = 1
};

/* The QoS of an endpoint. Zeros are ROS 2's default profile: RELIABLE, VOLATILE, KEEP_LAST 10, no limits of time. */
typedef struct gantry_qos {
    size_t struct_size;
    int32_t reliability;
    int32_t history;
    /* 0 is 10. */
    uint32_t depth;
    int32_t durability;
    int32_t liveliness;
    /* The name of the topic is taken as it is. */
    bool avoid_ros_namespace_conventions;
    uint8_t reserved[3];
    /* 0 is no limit. */
    uint64_t deadline_ns;
    uint64_t lifespan_ns;
    uint64_t liveliness_lease_duration_ns;
} gantry_qos;

typedef struct gantry_node_options {
    size_t struct_size;
    /* NULL is the root namespace. */
    const char *name_space;
    /* ROS arguments of this node: "--ros-args", "-r", "from:=to", … */
    const char *const *arguments;
    size_t argument_count;
    /* The domain if `sets_domain_id`; else ROS_DOMAIN_ID, or 0. */
    uint32_t domain_id;
    bool sets_domain_id;
    /* The node does not heed the arguments of `gantry_init`. */
    bool ignores_global_arguments;
    uint8_t reserved[2];
} gantry_node_options;

typedef struct gantry_publisher_options {
    size_t struct_size;
    /* Not 0: a thread of the library wakes the sleeping readers, at most this time later, so that publishing makes no
     * system call. */
    uint64_t async_period_ns;
    /* How long a RELIABLE KEEP_ALL publisher waits for such subscriptions; 0 is 100 ms, unless `never_blocks`. */
    uint64_t max_blocking_time_ns;
    /* The most samples and bytes that are kept for subscriptions deeper than the publisher; 0 is 1024 and 64 MiB. */
    size_t max_kept_samples;
    size_t max_kept_bytes;
    /* The limit of shared memory; 0 is 1 GiB, or more if the depth needs it. */
    size_t max_memory_bytes;
    /* The largest message that travels without a slot of its own; 0 is 256, unless `never_inline`. */
    size_t max_inline_bytes;
    bool never_blocks;
    bool never_inline;
    /* At the limit of memory, a message replaces the oldest ones instead of an error. */
    bool loses_oldest_at_limit;
    uint8_t reserved[5];
} gantry_publisher_options;

/* Memory for a message that is written in place. `data == NULL` is no loan. It holds old bytes: write all of it,
 * padding included. */
typedef struct gantry_loan {
    void *data;
    size_t size;
    /* The library that made it. */
    const gantry_loan_owner *owner;
    uint64_t reserved[4];
} gantry_loan;

/* A message in its publisher's memory, which stays as it is until `gantry_sample_release`. `data == NULL` is no
 * sample. The bytes come from another process: check them before use. */
typedef struct gantry_sample {
    const void *data;
    size_t size;
    /* The library that made it. */
    const gantry_sample_owner *owner;
    uint64_t reserved[6];
} gantry_sample;

typedef struct gantry_sample_info {
    size_t struct_size;
    /* The publisher's number of the sample: 1, 2, … */
    uint64_t sequence;
    /* The time of publishing: CLOCK_MONOTONIC, and CLOCK_REALTIME. */
    uint64_t source_time_ns;
    uint64_t source_wall_time_ns;
    gantry_gid publisher_gid;
    /* The publisher that published the sample first, and its number there: on another host if a bridge brought it. */
    gantry_gid origin_gid;
    uint64_t origin_sequence;
} gantry_sample_info;

/* A process may have several libraries that make loans and samples: libgantry.so, an archive in a plugin,
 * librmw_gantry.so. Any of them returns a loan and releases a sample, by the functions of its owner. Programs do not use
 * these structs. */
struct gantry_loan_owner {
    size_t struct_size;
    gantry_status (*return_loan)(gantry_loan *loan);
};

struct gantry_sample_owner {
    size_t struct_size;
    gantry_status (*release)(gantry_sample *sample);
    gantry_status (*get_info)(const gantry_sample *sample, gantry_sample_info *info);
};

typedef struct gantry_source_time {
    /* CLOCK_MONOTONIC. Lifespan, deadline and lease count from it. */
    uint64_t monotonic_ns;
    /* CLOCK_REALTIME. */
    uint64_t wall_ns;
} gantry_source_time;

typedef struct gantry_subscription_counts {
    size_t struct_size;
    /* Samples that became available: taken, overwritten, expired or waiting. */
    uint64_t received;
    /* Samples that left the history before they were taken. */
    uint64_t overwritten;
    /* Samples that were older than their lifespan. */
    uint64_t expired;
    /* Samples that `gantry_subscription_skip_malformed` counted. */
    uint64_t malformed;
} gantry_subscription_counts;

typedef struct gantry_tick {
    size_t struct_size;
    /* The times at which the timer was due and was taken, by its clock. */
    uint64_t scheduled_ns;
    uint64_t noticed_ns;
    /* Periods after `scheduled_ns` that had passed, too. They get no ticks of their own. */
    uint64_t overruns;
} gantry_tick;

enum {
    GANTRY_POLICY_NONE = 0,
    GANTRY_POLICY_RELIABILITY = 1,
    GANTRY_POLICY_DURABILITY = 2,
    GANTRY_POLICY_DEADLINE = 3,
    GANTRY_POLICY_LIVELINESS = 4,
    GANTRY_POLICY_LIVELINESS_LEASE_DURATION = 5,
    GANTRY_POLICY_OTHER = 6
};

enum {
    /* Endpoints matched or left: `total_count`, `current_count`. */
    GANTRY_EVENT_MATCHED = 1,
    /* A deadline passed without a sample: `total_count`. */
    GANTRY_EVENT_DEADLINE_MISSED = 2,
    /* The publisher did not assert its liveliness: `total_count`. */
    GANTRY_EVENT_LIVELINESS_LOST = 3,
    /* Publishers became alive or not: `current_count` are alive, `not_alive_count` are not. */
    GANTRY_EVENT_LIVELINESS_CHANGED = 4,
    /* An endpoint has QoS that do not match: `total_count`, `last_policy`. */
    GANTRY_EVENT_INCOMPATIBLE_QOS = 5,
    /* An endpoint has another type: `total_count`. */
    GANTRY_EVENT_INCOMPATIBLE_TYPE = 6,
    GANTRY_EVENT_GRAPH_CHANGED = 7,
    /* An event that this version does not know. */
    GANTRY_EVENT_OTHER = 8
};

/* An event. Totals count since the handle of events was made, changes since the last event of the kind. */
typedef struct gantry_event {
    size_t struct_size;
    int32_t kind;
    int32_t last_policy;
    uint64_t total_count;
    uint64_t total_count_change;
    uint64_t current_count;
    int64_t current_count_change;
    uint64_t not_alive_count;
    int64_t not_alive_count_change;
} gantry_event;

enum {
    GANTRY_SOURCE_SUBSCRIPTION = 1,
    GANTRY_SOURCE_SERVICE = 2,
    GANTRY_SOURCE_CLIENT = 3,
    GANTRY_SOURCE_TIMER = 4,
    GANTRY_SOURCE_GUARD_CONDITION = 5,
    GANTRY_SOURCE_EVENTS = 6
};

/* A source that a wait waits for, as `struct pollfd` of poll(2). */
typedef struct gantry_wait_source {
    int32_t kind;
    /* Set by the wait. */
    bool is_ready;
    /* The handle of that kind. */
    void *source;
} gantry_wait_source;

enum { GANTRY_ENDPOINT_PUBLISHER = 0, GANTRY_ENDPOINT_SUBSCRIPTION = 1 };

typedef struct gantry_endpoint_info {
    size_t struct_size;
    /* The full name of its node, as "/left/camera". */
    const char *node;
    const char *topic;
    const char *type_name;
    /* Program and pid. */
    const char *process;
    const gantry_qos *qos;
    uint8_t type_hash[32];
    gantry_gid gid;
    /* GANTRY_ENDPOINT_PUBLISHER or GANTRY_ENDPOINT_SUBSCRIPTION. */
    int32_t kind;
    uint8_t reserved[4];
    /* The messages that it copied instead of a loan or a take in place. */
    uint64_t copied_messages;
} gantry_endpoint_info;

/* ---- The program ------------------------------------------------------------------------------------------------ */

uint32_t gantry_abi_version(void);

/* As "0.1.0". */
const char *gantry_version(void);

/* The sentence of the last function that failed on this thread; "" if none did. It stays until the next failure on
 * this thread. Functions that succeed leave it. */
const char *gantry_last_error(void);

/* Begins a program, as rclcpp::init: SIGINT and SIGTERM shut it down in order, and all nodes heed the ROS arguments of
 * its command line. Optional; call it first in main. `arguments` are `argument_count` texts. */
gantry_status gantry_init(int argument_count, const char *const *arguments);

/* False once the program shuts down. One load, and a lock after a shutdown began. Any thread. */
bool gantry_ok(void);

/* Runs the functions of `gantry_on_shutdown`, then ends all waits of the process. False if it was shut down before. */
bool gantry_shutdown(void);

/* Adds a function that the thread that shuts down calls once: after a signal, a thread of the library. `context` is
 * passed to it. It must not throw. Called at once if the program is shut down already. */
gantry_status gantry_on_shutdown(void (*function)(void *), void *context);

/* ---- Nodes: any number of threads at once ----------------------------------------------------------------------- */

/* The node is seen by other processes until it and all endpoints of it are destroyed. `options` may be NULL. Writes
 * NULL to `node` if it fails, as all functions that make a handle. */
gantry_status gantry_node_create(const char *name, const gantry_node_options *options, gantry_node **node);
void gantry_node_destroy(gantry_node *node);

/* Namespace and name, as "/left/camera". NULL only if `node` is. */
const char *gantry_node_full_name(const gantry_node *node);

uint32_t gantry_node_domain_id(const gantry_node *node);

/* ROS time: since 1970, or of the topic /clock if the parameter use_sim_time is true. Data path. */
gantry_status gantry_node_now(const gantry_node *node, uint64_t *now_ns);

/* The full name of a topic for this node, expanded and remapped: a list of one text. */
gantry_status gantry_node_resolve_topic_name(const gantry_node *node, const char *topic, gantry_strings **name);

/* ---- Lists ------------------------------------------------------------------------------------------------------ */

/* `_get` returns NULL behind the end. Its results stay until the list is destroyed. */
size_t gantry_strings_count(const gantry_strings *list);
const char *gantry_strings_get(const gantry_strings *list, size_t index);
void gantry_strings_destroy(gantry_strings *list);

size_t gantry_types_count(const gantry_types *list);
const gantry_type *gantry_types_get(const gantry_types *list, size_t index);
void gantry_types_destroy(gantry_types *list);

size_t gantry_service_types_count(const gantry_service_types *list);
const gantry_service_type *gantry_service_types_get(const gantry_service_types *list, size_t index);
void gantry_service_types_destroy(gantry_service_types *list);

size_t gantry_endpoints_count(const gantry_endpoints *list);
const gantry_endpoint_info *gantry_endpoints_get(const gantry_endpoints *list, size_t index);
void gantry_endpoints_destroy(gantry_endpoints *list);

/* ---- The graph: any number of threads at once ------------------------------------------------------------------- */

/* The full names of the domain's nodes. */
gantry_status gantry_node_node_names(const gantry_node *node, gantry_strings **names);

/* Names and types in turn: the text at 2 i is a name, the one at 2 i + 1 its type. A name with two types is there
 * twice. */
gantry_status gantry_node_topic_names_and_types(const gantry_node *node, gantry_strings **names);
gantry_status gantry_node_service_names_and_types(const gantry_node *node, gantry_strings **names);

/* The types that are published on a topic now, each once: so a program subscribes to a topic of which it knows only the
 * name. */
gantry_status gantry_node_topic_types(const gantry_node *node, const char *topic, gantry_types **types);

/* The types of the servers of a service now. */
gantry_status gantry_node_service_types(const gantry_node *node, const char *service, gantry_service_types **types);

/* The publishers of a topic, then its subscriptions. */
gantry_status gantry_node_endpoints_info(const gantry_node *node, const char *topic, gantry_endpoints **endpoints);

/* Their numbers. Each may be NULL. */
gantry_status gantry_node_count_endpoints(const gantry_node *node, const char *topic, size_t *publishers,
                                          size_t *subscriptions);

/* Waits until the graph changes. GANTRY_TIMEOUT. Blocks. */
gantry_status gantry_node_wait_for_graph_change(const gantry_node *node, int64_t timeout_ns);

/* ---- Publishers ------------------------------------------------------------------------------------------------- */

/* `topic` is "/absolute", "relative" to the namespace or "~/private". `qos` and `options` may be NULL. */
gantry_status gantry_publisher_create(const gantry_node *node, const char *topic, const gantry_type *type,
                                      const gantry_qos *qos, const gantry_publisher_options *options,
                                      gantry_publisher **publisher);

/* Another publisher of the same topic, for another thread; it has its own memory and numbers. */
gantry_status gantry_publisher_clone(const gantry_publisher *original, gantry_publisher **clone);
void gantry_publisher_destroy(gantry_publisher *publisher);

/* Memory for a message of `size` bytes. Publish or return it; several loans may be out at once. Data path while a slot
 * is free; else it adds memory, which the publisher keeps. */
gantry_status gantry_publisher_loan(gantry_publisher *publisher, size_t size, gantry_loan *loan);

/* Gives a loan back unpublished; an empty one does nothing. Any thread, also after its publisher was destroyed.
 * Data path; beyond 64 loans at once, a lock. */
gantry_status gantry_loan_return(gantry_loan *loan);

/* Publishes a loan, which is empty after this; after a failure it is the caller's still. Writes the number of the
 * sample to `sequence`, which may be NULL. Data path: a system call for each reader that sleeps. If more readers came,
 * it may add memory. Waits only if the publisher is RELIABLE and KEEP_ALL. */
gantry_status gantry_publisher_publish(gantry_publisher *publisher, gantry_loan *loan, uint64_t *sequence);

/* As `gantry_publisher_publish`, with the caller's time instead of a reading of the clocks. */
gantry_status gantry_publisher_publish_at(gantry_publisher *publisher, gantry_loan *loan, gantry_source_time time,
                                          uint64_t *sequence);

/* The copy path: copies `size` bytes and publishes them. Data path, as a loan and its publication. */
gantry_status gantry_publisher_publish_copy(gantry_publisher *publisher, const uint8_t *data, size_t size,
                                            uint64_t *sequence);

/* For MANUAL_BY_TOPIC: asserts that the publisher is alive. Data path. */
gantry_status gantry_publisher_assert_liveliness(gantry_publisher *publisher);

/* The number of matched subscriptions. */
gantry_status gantry_publisher_subscription_count(gantry_publisher *publisher, size_t *count);

/* Waits until `count` subscriptions are matched. GANTRY_TIMEOUT. Fails after the time if one does not match. Blocks. */
gantry_status gantry_publisher_wait_for_subscriptions(gantry_publisher *publisher, size_t count, int64_t timeout_ns);

/* A sentence for each subscription that is not matched: another type, incompatible QoS. */
gantry_status gantry_publisher_mismatches(gantry_publisher *publisher, gantry_strings **sentences);

/* The QoS events from now on. The handle may be used on another thread than the publisher, and outlive it. */
gantry_status gantry_publisher_events(gantry_publisher *publisher, gantry_events **events);

gantry_status gantry_publisher_get_gid(const gantry_publisher *publisher, gantry_gid *gid);

/* The topic's full name. */
const char *gantry_publisher_topic(const gantry_publisher *publisher);

/* Bytes of its shared memory. */
size_t gantry_publisher_memory_bytes(const gantry_publisher *publisher);

/* ---- Subscriptions ---------------------------------------------------------------------------------------------- */

/* As `gantry_publisher_create`. */
gantry_status gantry_subscription_create(const gantry_node *node, const char *topic, const gantry_type *type,
                                         const gantry_qos *qos, gantry_subscription **subscription);
void gantry_subscription_destroy(gantry_subscription *subscription);

/* The next sample, in place: the oldest first. GANTRY_NONE: none now, and the sample is empty. Data path; when
 * publishers came or went, or more samples are held than ever before, it allocates. */
gantry_status gantry_subscription_take(gantry_subscription *subscription, gantry_sample *sample);

/* Ends the use of a sample, request or response; an empty one does nothing. Any thread, in any order. Data path while
 * its subscription and publisher exist. */
gantry_status gantry_sample_release(gantry_sample *sample);

/* Times, number and publisher of a sample, request or response. Data path. */
gantry_status gantry_sample_get_info(const gantry_sample *sample, gantry_sample_info *info);

/* Waits until there is something to take. GANTRY_TIMEOUT. A bounded busy-wait, then a sleep. Fails after the time if no
 * publisher matches and one has another type or QoS. Blocks. */
gantry_status gantry_subscription_wait(gantry_subscription *subscription, int64_t timeout_ns);

/* Waits until `count` publishers are matched. GANTRY_TIMEOUT. Blocks. */
gantry_status gantry_subscription_wait_for_publishers(gantry_subscription *subscription, size_t count,
                                                      int64_t timeout_ns);

/* Turns the busy-wait of `gantry_subscription_wait` on (the default) or off. */
gantry_status gantry_subscription_set_busy_wait(gantry_subscription *subscription, bool on);

/* The largest number of samples of one publisher that may be held at once; a take beyond it fails. No limit at first.
 * Messages that travel inline do not count. */
gantry_status gantry_subscription_set_max_held_samples(gantry_subscription *subscription, size_t limit);

/* A descriptor for poll and epoll that is readable while there is something to take. Take until GANTRY_NONE before
 * waiting on it again. It belongs to the subscription. */
gantry_status gantry_subscription_get_fd(gantry_subscription *subscription, int32_t *fd);

gantry_status gantry_subscription_get_counts(gantry_subscription *subscription, gantry_subscription_counts *counts);

/* Counts a sample that is no message of its type, and logs the first, the tenth, the hundredth … with its publisher.
 * `why` may be NULL. Release the sample after this. */
gantry_status gantry_subscription_skip_malformed(gantry_subscription *subscription, const gantry_sample *sample,
                                                 const char *why);

/* The number of matched publishers. */
gantry_status gantry_subscription_publisher_count(gantry_subscription *subscription, size_t *count);

/* As `gantry_publisher_mismatches`. */
gantry_status gantry_subscription_mismatches(gantry_subscription *subscription, gantry_strings **sentences);

/* As `gantry_publisher_events`. */
gantry_status gantry_subscription_events(gantry_subscription *subscription, gantry_events **events);

gantry_status gantry_subscription_get_gid(const gantry_subscription *subscription, gantry_gid *gid);

const char *gantry_subscription_topic(const gantry_subscription *subscription);

/* ---- Servers of services ---------------------------------------------------------------------------------------- */

/* `qos` may be NULL. */
gantry_status gantry_service_create(const gantry_node *node, const char *name, const gantry_service_type *type,
                                    const gantry_qos *qos, gantry_service **service);
void gantry_service_destroy(gantry_service *service);

/* The next request, in place. GANTRY_NONE. Answer it now or later, on this handle, by its id. Data path, as a take;
 * when clients came, it makes memory for their responses. */
gantry_status gantry_service_take_request(gantry_service *service, gantry_sample *request, gantry_request_id *id);

/* Memory for the response to this request. Data path, as `gantry_publisher_loan`. */
gantry_status gantry_service_loan_response(gantry_service *service, gantry_request_id id, size_t size,
                                           gantry_loan *loan);

/* Sends a response. If its client is gone, it is dropped without an error. After a failure the loan is the caller's.
 * Data path. */
gantry_status gantry_service_send_response(gantry_service *service, gantry_request_id id, gantry_loan *loan);

/* The copy path. */
gantry_status gantry_service_send_response_copy(gantry_service *service, gantry_request_id id, const uint8_t *data,
                                                size_t size);

/* As `gantry_subscription_skip_malformed`; the request gets no answer. */
gantry_status gantry_service_skip_malformed(gantry_service *service, const gantry_sample *request, const char *why);

/* As `gantry_subscription_wait`. Blocks. */
gantry_status gantry_service_wait(gantry_service *service, int64_t timeout_ns);

/* As `gantry_subscription_get_fd`. */
gantry_status gantry_service_get_fd(gantry_service *service, int32_t *fd);

gantry_status gantry_service_client_count(gantry_service *service, size_t *count);

/* The number of responses that clients did not get because they took none for too long. */
uint64_t gantry_service_lost_responses(const gantry_service *service);

gantry_status gantry_service_mismatches(gantry_service *service, gantry_strings **sentences);

/* The service's full name. */
const char *gantry_service_name(const gantry_service *service);

/* ---- Clients of services ---------------------------------------------------------------------------------------- */

/* `qos` may be NULL. Its depth is the number of requests that may be in flight. */
gantry_status gantry_client_create(const gantry_node *node, const char *name, const gantry_service_type *type,
                                   const gantry_qos *qos, gantry_client **client);
void gantry_client_destroy(gantry_client *client);

/* Memory for a request. Data path, as `gantry_publisher_loan`. */
gantry_status gantry_client_loan_request(gantry_client *client, size_t size, gantry_loan *loan);

/* Sends a request, and writes its id to `id`, which may be NULL. After a failure the loan is the caller's still.
 * GANTRY_NO_SERVER, GANTRY_TOO_MANY_REQUESTS. Waits up to 100 ms if servers do not keep up. */
gantry_status gantry_client_send_request(gantry_client *client, gantry_loan *loan, gantry_request_id *id);

/* The copy path. */
gantry_status gantry_client_send_request_copy(gantry_client *client, const uint8_t *data, size_t size,
                                              gantry_request_id *id);

/* The next response, in place, and the id of its request in `id`, which may be NULL. GANTRY_NONE. After
 * GANTRY_SERVER_GONE and GANTRY_RESPONSE_LOST, the request `id` has ended without a response. */
gantry_status gantry_client_take_response(gantry_client *client, gantry_sample *response, gantry_request_id *id);

/* Sends a request and waits for its response. The loan is empty after this, also after a failure.
 * GANTRY_CALL_TIMEOUT. Blocks. */
gantry_status gantry_client_call(gantry_client *client, gantry_loan *loan, int64_t timeout_ns,
                                 gantry_sample *response);

/* The same with a copy of the request; the response is in place. Blocks. */
gantry_status gantry_client_call_copy(gantry_client *client, const uint8_t *data, size_t size, int64_t timeout_ns,
                                      gantry_sample *response);

/* As `gantry_subscription_skip_malformed`. */
gantry_status gantry_client_skip_malformed(gantry_client *client, const gantry_sample *response, const char *why);

/* Waits until there is a response, or a request that ended. Blocks. */
gantry_status gantry_client_wait(gantry_client *client, int64_t timeout_ns);

/* Waits until a server is connected. GANTRY_TIMEOUT. Blocks. */
gantry_status gantry_client_wait_for_service(gantry_client *client, int64_t timeout_ns);

gantry_status gantry_client_server_count(gantry_client *client, size_t *count);

/* Gives up a request: its response is dropped. GANTRY_NONE if it is not in flight. */
gantry_status gantry_client_remove_pending_request(gantry_client *client, gantry_request_id id);

size_t gantry_client_pending_requests(const gantry_client *client);

/* As `gantry_subscription_get_fd`. It does not become readable when servers end: take now and then, too. */
gantry_status gantry_client_get_fd(gantry_client *client, int32_t *fd);

/* The gid in the ids of its requests. */
gantry_status gantry_client_get_gid(const gantry_client *client, gantry_gid *gid);

gantry_status gantry_client_mismatches(gantry_client *client, gantry_strings **sentences);

/* The service's full name. */
const char *gantry_client_name(const gantry_client *client);

/* ---- Timers: any number of threads at once ---------------------------------------------------------------------- */

/* A timer on the node's clock, due one period from now, then each period, or once. GANTRY_INVALID_ARGUMENT for 0. */
gantry_status gantry_timer_create(const gantry_node *node, uint64_t period_ns, bool is_one_shot, gantry_timer **timer);
void gantry_timer_destroy(gantry_timer *timer);

/* The tick that is due; GANTRY_NONE. A lock for some nanoseconds, no system call. */
gantry_status gantry_timer_take(const gantry_timer *timer, gantry_tick *tick);

/* Stops it until a reset. */
gantry_status gantry_timer_cancel(const gantry_timer *timer);

/* The next tick is due one period from now. */
gantry_status gantry_timer_reset(const gantry_timer *timer);

bool gantry_timer_is_canceled(const gantry_timer *timer);

/* 0 if a tick is due, -1 if there will be none: the timeout for a poll or epoll of one's own. */
int64_t gantry_timer_time_until_trigger(const gantry_timer *timer);

/* ---- Guard conditions: any number of threads at once ------------------------------------------------------------ */

gantry_status gantry_guard_condition_create(gantry_guard_condition **guard_condition);
void gantry_guard_condition_destroy(gantry_guard_condition *guard_condition);

/* Wakes the threads that wait for it. Triggers until the next take are one. */
gantry_status gantry_guard_condition_trigger(const gantry_guard_condition *guard_condition);

/* GANTRY_OK if it was triggered since the last take; else GANTRY_NONE. */
gantry_status gantry_guard_condition_take(const gantry_guard_condition *guard_condition);

/* A descriptor that is readable from a trigger to the next take. It belongs to the guard condition. */
gantry_status gantry_guard_condition_get_fd(const gantry_guard_condition *guard_condition, int32_t *fd);

/* ---- Events ----------------------------------------------------------------------------------------------------- */

/* The news that the graph changes, from now on. */
gantry_status gantry_node_graph_events(const gantry_node *node, gantry_events **events);
void gantry_events_destroy(gantry_events *events);

/* The next event; GANTRY_NONE. */
gantry_status gantry_events_take(gantry_events *events, gantry_event *event);

/* A descriptor that is readable while there is an event. Take until GANTRY_NONE before waiting on it again. It belongs
 * to the handle. */
gantry_status gantry_events_get_fd(gantry_events *events, int32_t *fd);

/* ---- Wait sets -------------------------------------------------------------------------------------------------- */

/* A wait set for one thread, and for sources of the node's domain. */
gantry_status gantry_wait_set_create(const gantry_node *node, gantry_wait_set **wait_set);
void gantry_wait_set_destroy(gantry_wait_set *wait_set);

/* Waits until one of `count` sources has something to take, and sets their `is_ready`. GANTRY_TIMEOUT. The wait set
 * keeps no source afterwards. No other thread uses a subscription, service, client or events meanwhile. Allocates and
 * blocks; its cost grows with the number of sources. A program with an event loop of its own waits for the descriptors
 * instead. */
gantry_status gantry_wait_set_wait(gantry_wait_set *wait_set, gantry_wait_source *sources, size_t count,
                                   int64_t timeout_ns);

#ifdef __cplusplus
}
#endif

#endif
