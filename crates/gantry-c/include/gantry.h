/*
 * Gantry in C: nodes, topics, services, timers, events and wait sets over shared memory, with the names of ROS 2.
 *
 *   cc program.c $(pkg-config --cflags --libs gantry)
 *
 * A message is an array of bytes: its CDR body, as on ROS 2's wire (XCDR1, little endian) but without the four bytes of
 * encapsulation. The first byte is at a multiple of 8. `gantry_type` describes the type of a message. Gantry checks the
 * length of a message if all messages of its type have the same length, but not the contents. `gantry.hpp` has classes
 * for messages in C++.
 *
 * STATUS. A function that can fail returns a `gantry_status`: GANTRY_OK, a positive number if there was nothing, or a
 * negative number after a failure. After a failure, `gantry_last_error` returns a sentence with the values and the next
 * step.
 *
 * HANDLES. A handle is a pointer to a `gantry_…` that a function of this header returned.
 * - The caller frees a handle with the `_destroy` function of its kind, in any order: a publisher may outlive its node,
 *   a loan its publisher, a sample its subscription. `_destroy(NULL)` does nothing.
 * - Only one thread at a time may use a handle, but not always the same thread. Any number of threads at once may use a
 *   node, a guard condition, a timer or a list (`gantry_strings` …), except for `_destroy`.
 * - A string that a handle returns stays valid until the handle is destroyed. A descriptor belongs to its handle: do
 *   not close it.
 *
 * STRUCTS that begin with `struct_size` may get more fields at their end in a later version; all other structs never
 * change. Set `struct_size` to the `sizeof` of the struct before the call: `gantry_qos qos = {.struct_size = sizeof
 * qos}`.
 * - Options are passed by a pointer, which may be NULL for the defaults. Set all other fields to 0, also `reserved`: 0
 *   means the default of a field.
 * - Results (`gantry_sample_info` …) get the fields that the caller's header has. The library does not change
 *   `struct_size`.
 * So a program that was compiled with an older header works with a newer library.
 *
 * LOANS AND SAMPLES are structs that the caller keeps by value; `= {0}` is empty. You may move such a struct, but must
 * not use it twice: after a copy, use only one of the two. A function that returns a loan or a sample overwrites the
 * struct, so release or publish the old contents first. If the function returns none, the struct is empty.
 *
 * TIME. All times are in nanoseconds. A negative timeout means no limit; 0 means no wait. A shutdown
 * (`gantry_shutdown`, or SIGINT after `gantry_init`) ends each wait like a timeout.
 *
 * REAL TIME. *Data path*: the function allocates nothing, takes no lock, does not block, and makes no system call
 * except to wake a sleeping reader. Exceptions are stated at the function. A function without this mark may allocate,
 * block and make system calls.
 *
 * FORK. A forked child must not use the handles of its parent: functions return GANTRY_FORKED. It may destroy nodes,
 * publishers, subscriptions, services and clients, and create new ones.
 *
 * SIGNALS. A signal handler must not call any function of this header.
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

/* The version of this header; `gantry_abi_version` returns the version of the library. A library works with headers of
 * the same or an older version. */
#define GANTRY_ABI_VERSION 1

typedef int32_t gantry_status;

enum {
    GANTRY_OK = 0,
    /* There is nothing to take. */
    GANTRY_NONE = 1,
    /* The time-out has passed, or the program shuts down. */
    GANTRY_TIMEOUT = 2,

    GANTRY_ERROR = -1,
    /* An argument is not allowed: NULL, an invalid name or length, or a number out of range. */
    GANTRY_INVALID_ARGUMENT = -2,
    /* Shared memory is full, or the publisher's memory limit is reached. */
    GANTRY_NO_MEMORY = -3,
    /* The other end of the topic or service has another type. */
    GANTRY_TYPE_MISMATCH = -4,
    GANTRY_INCOMPATIBLE_QOS = -5,
    /* RELIABLE KEEP_ALL subscriptions did not take their samples in time. The caller still has the loan. */
    GANTRY_BLOCKED = -6,
    /* The limit of `gantry_subscription_set_max_held_samples` is reached. */
    GANTRY_TOO_MANY_HELD = -7,
    /* Shared memory of another process is invalid. */
    GANTRY_CORRUPT = -8,
    /* The handle belongs to the parent process. */
    GANTRY_FORKED = -9,
    GANTRY_NO_SERVER = -10,
    /* All servers that received the request have ended. */
    GANTRY_SERVER_GONE = -11,
    GANTRY_RESPONSE_LOST = -12,
    GANTRY_CALL_TIMEOUT = -13,
    GANTRY_TOO_MANY_REQUESTS = -14,
    GANTRY_SHUT_DOWN = -15,
    /* A bug of Gantry. The only allowed use of the handle is now to destroy it. */
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
typedef struct gantry_parameters gantry_parameters;
typedef struct gantry_parameter_callback gantry_parameter_callback;
typedef struct gantry_loan_owner gantry_loan_owner;
typedef struct gantry_sample_owner gantry_sample_owner;

/* The unique id of an endpoint, 16 bytes. */
typedef struct gantry_gid {
    uint8_t bytes[16];
} gantry_gid;

/* The id of a request: the gid of its client, and the number that the client gave the request: 1, 2, … */
typedef struct gantry_request_id {
    gantry_gid client_gid;
    uint64_t sequence;
} gantry_request_id;

/* The type of a message. Endpoints match if the names and hashes of their types are equal. If a hash is zeros, the
 * definitions must be equal instead. */
typedef struct gantry_type {
    size_t struct_size;
    /* The full name, such as "sensor_msgs/msg/Image". */
    const char *name;
    /* The text of the .msg file and of all nested messages, in the format of bags, or NULL. Tools need it to print
     * messages. */
    const char *definition;
    /* The length of the longest message; 0 if there is no limit. */
    size_t max_bytes;
    /* The RIHS01 hash, as ROS 2 computes it; zeros if it is unknown. */
    uint8_t hash[32];
} gantry_type;

typedef struct gantry_service_type {
    size_t struct_size;
    /* The full name, such as "std_srvs/srv/SetBool". */
    const char *name;
    /* The message types, such as "std_srvs/srv/SetBool_Request" and "std_srvs/srv/SetBool_Response". */
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

/* The QoS of an endpoint. Zeros mean ROS 2's default profile: RELIABLE, VOLATILE, KEEP_LAST with depth 10, no deadline,
 * lifespan or lease. */
typedef struct gantry_qos {
    size_t struct_size;
    int32_t reliability;
    int32_t history;
    /* 0 means 10. */
    uint32_t depth;
    int32_t durability;
    int32_t liveliness;
    /* True: the name of the topic is not expanded. */
    bool avoid_ros_namespace_conventions;
    uint8_t reserved[3];
    /* 0 means no limit. */
    uint64_t deadline_ns;
    uint64_t lifespan_ns;
    uint64_t liveliness_lease_duration_ns;
} gantry_qos;

typedef struct gantry_node_options {
    size_t struct_size;
    /* NULL means the root namespace. */
    const char *name_space;
    /* ROS arguments of this node: "--ros-args", "-r", "from:=to", … */
    const char *const *arguments;
    size_t argument_count;
    /* The domain, if `sets_domain_id` is true. Otherwise the domain is ROS_DOMAIN_ID, or 0. */
    uint32_t domain_id;
    bool sets_domain_id;
    /* True: the node ignores the ROS arguments of `gantry_init`. */
    bool ignores_global_arguments;
    /* True: a parameter may be set before it is declared, which declares it. */
    bool allows_undeclared_parameters;
    /* True: each parameter with a value in the ROS arguments is declared, with dynamic typing. */
    bool declares_parameters_from_overrides;
} gantry_node_options;

/* The types of parameters, with the numbers of rcl_interfaces/msg/ParameterType. */
enum {
    GANTRY_PARAMETER_NOT_SET = 0,
    GANTRY_PARAMETER_BOOL = 1,
    GANTRY_PARAMETER_INTEGER = 2,
    GANTRY_PARAMETER_DOUBLE = 3,
    GANTRY_PARAMETER_STRING = 4,
    GANTRY_PARAMETER_BYTE_ARRAY = 5,
    GANTRY_PARAMETER_BOOL_ARRAY = 6,
    GANTRY_PARAMETER_INTEGER_ARRAY = 7,
    GANTRY_PARAMETER_DOUBLE_ARRAY = 8,
    GANTRY_PARAMETER_STRING_ARRAY = 9
};

/* The name and the value of a parameter. Only the fields of the value's type are used. */
typedef struct gantry_parameter {
    const char *name;
    /* GANTRY_PARAMETER_… */
    int32_t value_type;
    bool bool_value;
    int64_t integer_value;
    double double_value;
    const char *string_value;
    /* An array of `count` elements: uint8_t, bool, int64_t, double or const char *. */
    const void *elements;
    size_t count;
} gantry_parameter;

typedef struct gantry_parameter_options {
    size_t struct_size;
    /* NULL means no description. */
    const char *description;
    bool is_read_only;
    /* True: the parameter may change its type, and may be undeclared. */
    bool has_dynamic_typing;
    /* True: the range below applies. A step of 0 allows each value of the range. */
    bool has_integer_range;
    bool has_double_range;
    uint8_t reserved[4];
    int64_t integer_from;
    int64_t integer_to;
    uint64_t integer_step;
    double double_from;
    double double_to;
    double double_step;
} gantry_parameter_options;

typedef struct gantry_publisher_options {
    size_t struct_size;
    /* Not 0: publishing makes no system call: a thread of the library wakes sleeping readers, at most this time
     * later. */
    uint64_t async_period_ns;
    /* The longest time for which a RELIABLE KEEP_ALL publisher waits for RELIABLE KEEP_ALL subscriptions. 0 means 100
     * ms; to never wait, set `never_blocks`. */
    uint64_t max_blocking_time_ns;
    /* The largest numbers of samples and bytes that the publisher keeps for subscriptions whose depth is larger than
     * its own. 0 means 1024 samples, 64 MiB. */
    size_t max_kept_samples;
    size_t max_kept_bytes;
    /* The limit of the publisher's shared memory. 0 means 1 GiB, or more if the depth needs it. */
    size_t max_memory_bytes;
    /* The largest size of a message that is stored in a ring entry instead of a slot. 0 means 256; to use slots only,
     * set `never_inline`. */
    size_t max_inline_bytes;
    bool never_blocks;
    bool never_inline;
    /* True: a message at the memory limit replaces the oldest messages, instead of an error. */
    bool loses_oldest_at_limit;
    uint8_t reserved[5];
} gantry_publisher_options;

/* Shared memory for one message. `data == NULL` means no loan. The memory contains old bytes: write all of it, also
 * padding. */
typedef struct gantry_loan {
    void *data;
    size_t size;
    /* The library that made it. */
    const gantry_loan_owner *owner;
    uint64_t reserved[4];
} gantry_loan;

/* A message in its publisher's memory. It does not change until `gantry_sample_release`. `data == NULL` means no
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
    /* The sequence number that the publisher gave the sample: 1, 2, … */
    uint64_t sequence;
    /* The time of publication: by CLOCK_MONOTONIC, and by CLOCK_REALTIME. */
    uint64_t source_time_ns;
    uint64_t source_wall_time_ns;
    gantry_gid publisher_gid;
    /* The first publisher of the sample, and the sequence number that it gave the sample. If a bridge brought the
     * sample, this publisher is on another host; otherwise the values are equal to the ones above. */
    gantry_gid origin_gid;
    uint64_t origin_sequence;
} gantry_sample_info;

/* A process may have several libraries that make loans and samples: libgantry.so, an archive in a plugin,
 * librmw_gantry.so. Any of these libraries can return a loan or release a sample: it calls the functions of the loan's
 * or sample's `owner`. Programs do not use these structs. */
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
    /* The time by CLOCK_MONOTONIC. Lifespan, deadline and lease are measured from it. */
    uint64_t monotonic_ns;
    /* CLOCK_REALTIME. */
    uint64_t wall_ns;
} gantry_source_time;

typedef struct gantry_subscription_counts {
    size_t struct_size;
    /* The number of samples that arrived: taken, overwritten, expired or waiting. */
    uint64_t received;
    /* The number of samples that left the history before they were taken. */
    uint64_t overwritten;
    /* The number of samples that were older than their lifespan. */
    uint64_t expired;
    /* The number of samples that `gantry_subscription_skip_malformed` counted. */
    uint64_t malformed;
} gantry_subscription_counts;

typedef struct gantry_tick {
    size_t struct_size;
    /* The times at which the timer was due and was taken, by the timer's clock. */
    uint64_t scheduled_ns;
    uint64_t noticed_ns;
    /* The number of further periods that had passed when the tick was taken. They get no ticks. */
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
    /* Endpoints were matched or left: `total_count`, `current_count`. */
    GANTRY_EVENT_MATCHED = 1,
    /* A deadline passed without a sample: `total_count`. */
    GANTRY_EVENT_DEADLINE_MISSED = 2,
    /* The publisher did not assert its liveliness: `total_count`. */
    GANTRY_EVENT_LIVELINESS_LOST = 3,
    /* The liveliness of publishers changed: `current_count` are alive, `not_alive_count` are not. */
    GANTRY_EVENT_LIVELINESS_CHANGED = 4,
    /* An endpoint has incompatible QoS: `total_count`, `last_policy`. */
    GANTRY_EVENT_INCOMPATIBLE_QOS = 5,
    /* An endpoint has a different type: `total_count`. */
    GANTRY_EVENT_INCOMPATIBLE_TYPE = 6,
    GANTRY_EVENT_GRAPH_CHANGED = 7,
    /* An event that this version does not know. */
    GANTRY_EVENT_OTHER = 8
};

/* An event. The totals count since the creation of the `gantry_events` handle, the changes since the last event of the
 * same kind. */
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

/* A source that `gantry_wait_set_wait` waits for, like `struct pollfd` of poll(2). */
typedef struct gantry_wait_source {
    int32_t kind;
    /* Set by the wait. */
    bool is_ready;
    /* The handle, whose type `kind` states. */
    void *source;
} gantry_wait_source;

enum { GANTRY_ENDPOINT_PUBLISHER = 0, GANTRY_ENDPOINT_SUBSCRIPTION = 1 };

typedef struct gantry_endpoint_info {
    size_t struct_size;
    /* The full name of the endpoint's node, such as "/left/camera". */
    const char *node;
    const char *topic;
    const char *type_name;
    /* The program and its pid. */
    const char *process;
    const gantry_qos *qos;
    uint8_t type_hash[32];
    gantry_gid gid;
    /* GANTRY_ENDPOINT_PUBLISHER or GANTRY_ENDPOINT_SUBSCRIPTION. */
    int32_t kind;
    uint8_t reserved[4];
    /* The number of messages that the endpoint copied instead of using loans. */
    uint64_t copied_messages;
} gantry_endpoint_info;

/* ---- The program ------------------------------------------------------------------------------------------------ */

uint32_t gantry_abi_version(void);

/* The version of the library, such as "0.1.0". */
const char *gantry_version(void);

/* The error text of the last function that failed on this thread; "" if none failed. The text stays until the next
 * failure on this thread; functions that succeed do not change it. */
const char *gantry_last_error(void);

/* Starts a program like rclcpp::init: SIGINT and SIGTERM shut the program down, and all nodes use the ROS arguments of
 * its command line. Optional; call it first in main. `arguments` is an array of `argument_count` strings. */
gantry_status gantry_init(int argument_count, const char *const *arguments);

/* False after the start of a shutdown. Costs one load, and takes a lock after the start of a shutdown. Any thread may
 * call it. */
bool gantry_ok(void);

/* Runs the functions of `gantry_on_shutdown`, then ends all waits of the process. False if the process was shut down
 * before. */
bool gantry_shutdown(void);

/* Adds a function that is called once at shutdown, with `context` as its argument. The thread that shuts down calls it;
 * after a signal, this is a thread of the library. The function must not throw. If the program is shut down already, it
 * is called at once. */
gantry_status gantry_on_shutdown(void (*function)(void *), void *context);

/* ---- Nodes: any number of threads at once ----------------------------------------------------------------------- */

/* Creates a node. Other processes see it until the node and all its endpoints are destroyed. `options` may be NULL.
 * After a failure, `*node` is NULL; all functions that create a handle do this. */
gantry_status gantry_node_create(const char *name, const gantry_node_options *options, gantry_node **node);
void gantry_node_destroy(gantry_node *node);

/* The namespace and the name, such as "/left/camera". NULL only if `node` is NULL. */
const char *gantry_node_full_name(const gantry_node *node);

uint32_t gantry_node_domain_id(const gantry_node *node);

/* The ROS time: ns since 1970 or, if the parameter use_sim_time is true, the time of the topic /clock. Data path. */
gantry_status gantry_node_now(const gantry_node *node, uint64_t *now_ns);

/* Expands and remaps the name of a topic for this node. The result is a list with one string. */
gantry_status gantry_node_resolve_topic_name(const gantry_node *node, const char *topic, gantry_strings **name);

/* ---- Parameters: any number of threads at once ------------------------------------------------------------------ */

/* Declares a parameter of the given type, with its default. `options` may be NULL. Writes the value to `value`, which
 * may be NULL: a list with one element, which is the value of the ROS arguments (`-p name:=value`, `--params-file`), or
 * else the default. The first declaration or change starts a thread, which runs the node's parameter services. With
 * `declares_parameters_from_overrides`, or with a value of `use_sim_time` in the ROS arguments, gantry_node_create
 * starts the thread. */
gantry_status gantry_node_declare_parameter(const gantry_node *node, const gantry_parameter *parameter,
                                            const gantry_parameter_options *options, gantry_parameters **value);

/* Removes a parameter with dynamic typing. */
gantry_status gantry_node_undeclare_parameter(const gantry_node *node, const char *name);

bool gantry_node_has_parameter(const gantry_node *node, const char *name);

/* Reads a parameter: a list with one element. */
gantry_status gantry_node_get_parameter(const gantry_node *node, const char *name, gantry_parameters **value);

/* Reads the parameters whose names begin with `prefix` and a dot. The list has the names without this beginning. Reads
 * all parameters if `prefix` is "". */
gantry_status gantry_node_get_parameters_by_prefix(const gantry_node *node, const char *prefix,
                                                   gantry_parameters **values);

/* Reads the properties of a parameter: the type of its value (GANTRY_PARAMETER_…), and its options. The list has one
 * string, the description, to which `options->description` points until the list is destroyed. */
gantry_status gantry_node_describe_parameter(const gantry_node *node, const char *name, int32_t *value_type,
                                             gantry_parameter_options *options, gantry_strings **description);

/* The names of the parameters that begin with one of the prefixes and a dot; of all parameters if `prefix_count` is 0.
 * `depth` limits the number of parts of a name below its prefix; 0 means no limit. */
gantry_status gantry_node_list_parameters(const gantry_node *node, const char *const *prefixes, size_t prefix_count,
                                          uint64_t depth, gantry_strings **names);

/* Sets all of these parameters or, after a failure, none. */
gantry_status gantry_node_set_parameters(const gantry_node *node, const gantry_parameter *parameters, size_t count);

/* Adds a function that may refuse a declaration or a change. The function returns NULL, or the reason as a string that
 * stays valid until the next call. The arguments are `context`, and an array of `count` parameters, which is valid
 * until the function returns. The function may read parameters but not change them, and must not throw. Its calls run
 * on the thread of the change or of the parameter services, and never overlap. `free_context`, which may be NULL, is
 * called once: when the function was removed and does not run any more, or if it could not be added. */
gantry_status gantry_node_on_set_parameters(
    const gantry_node *node, const char *(*function)(void *context, const gantry_parameter *parameters, size_t count),
    void *context, void (*free_context)(void *context), gantry_parameter_callback **callback);

/* Adds a function that may alter a list of parameters before they are set: it sets `*parameters` and `*count` to
 * another array, which stays valid until the next call or the end of the callback. A change with an empty list, or with
 * an array that cannot be read, fails. The function is not called for declarations. Otherwise as
 * gantry_node_on_set_parameters. */
gantry_status gantry_node_before_set_parameters(
    const gantry_node *node, void (*function)(void *context, const gantry_parameter **parameters, size_t *count),
    void *context, void (*free_context)(void *context), gantry_parameter_callback **callback);

/* Adds a function that is called with parameters after they were set or declared. Otherwise as
 * gantry_node_on_set_parameters. */
gantry_status gantry_node_after_set_parameters(
    const gantry_node *node, void (*function)(void *context, const gantry_parameter *parameters, size_t count),
    void *context, void (*free_context)(void *context), gantry_parameter_callback **callback);

/* Removes the function. */
void gantry_parameter_callback_destroy(gantry_parameter_callback *callback);

/* ---- Lists ------------------------------------------------------------------------------------------------------ */

/* `_get` returns NULL if `index` is not less than the count. Its results stay valid until the list is destroyed. */
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

size_t gantry_parameters_count(const gantry_parameters *list);
const gantry_parameter *gantry_parameters_get(const gantry_parameters *list, size_t index);
void gantry_parameters_destroy(gantry_parameters *list);

/* ---- The graph: any number of threads at once ------------------------------------------------------------------- */

/* The full names of the domain's nodes. */
gantry_status gantry_node_node_names(const gantry_node *node, gantry_strings **names);

/* The list alternates names and types: the string at index 2 i is a name, and the string at index 2 i + 1 is its type.
 * A name with two types appears twice. */
gantry_status gantry_node_topic_names_and_types(const gantry_node *node, gantry_strings **names);
gantry_status gantry_node_service_names_and_types(const gantry_node *node, gantry_strings **names);

/* The types that are published on a topic now, each once. With them, a program can subscribe to a topic whose type it
 * does not know. */
gantry_status gantry_node_topic_types(const gantry_node *node, const char *topic, gantry_types **types);

/* The types of a service that servers offer now. */
gantry_status gantry_node_service_types(const gantry_node *node, const char *service, gantry_service_types **types);

/* The publishers of a topic, then its subscriptions. */
gantry_status gantry_node_endpoints_info(const gantry_node *node, const char *topic, gantry_endpoints **endpoints);

/* The numbers of a topic's publishers and subscriptions. Each pointer may be NULL. */
gantry_status gantry_node_count_endpoints(const gantry_node *node, const char *topic, size_t *publishers,
                                          size_t *subscriptions);

/* Waits until the graph changes. Returns GANTRY_TIMEOUT after the time-out. Blocks. */
gantry_status gantry_node_wait_for_graph_change(const gantry_node *node, int64_t timeout_ns);

/* ---- Publishers ------------------------------------------------------------------------------------------------- */

/* Creates a publisher. `topic` is "/absolute", "relative" to the namespace, or "~/private". `qos` and `options` may be
 * NULL. */
gantry_status gantry_publisher_create(const gantry_node *node, const char *topic, const gantry_type *type,
                                      const gantry_qos *qos, const gantry_publisher_options *options,
                                      gantry_publisher **publisher);

/* Creates another publisher of the same topic, for another thread. It has its own memory and its own sequence numbers.
 * */
gantry_status gantry_publisher_clone(const gantry_publisher *original, gantry_publisher **clone);
void gantry_publisher_destroy(gantry_publisher *publisher);

/* Loans memory for a message of `size` bytes. Publish or return the loan; a program may have several loans at once.
 * Data path if a slot is free; otherwise the publisher allocates further slots, which it keeps. */
gantry_status gantry_publisher_loan(gantry_publisher *publisher, size_t size, gantry_loan *loan);

/* Returns a loan without publishing it. An empty loan has no effect. Any thread may call it, also after the publisher
 * was destroyed. Data path; takes a lock if more than 64 loans exist at once. */
gantry_status gantry_loan_return(gantry_loan *loan);

/* Publishes a loan, which is empty afterwards. After a failure, the caller still has the loan. Writes the sequence
 * number of the sample to `sequence`, which may be NULL. Data path, with a system call for each sleeping reader. May
 * allocate memory after further readers have joined. Waits only if the publisher is RELIABLE and KEEP_ALL. */
gantry_status gantry_publisher_publish(gantry_publisher *publisher, gantry_loan *loan, uint64_t *sequence);

/* Does the same as `gantry_publisher_publish`, with the caller's time instead of the current time. */
gantry_status gantry_publisher_publish_at(gantry_publisher *publisher, gantry_loan *loan, gantry_source_time time,
                                          uint64_t *sequence);

/* Copies `size` bytes into a loan and publishes it. Data path, like `gantry_publisher_loan` and
 * `gantry_publisher_publish`. */
gantry_status gantry_publisher_publish_copy(gantry_publisher *publisher, const uint8_t *data, size_t size,
                                            uint64_t *sequence);

/* For MANUAL_BY_TOPIC: asserts that the publisher is alive. Data path. */
gantry_status gantry_publisher_assert_liveliness(gantry_publisher *publisher);

/* The number of matched subscriptions. */
gantry_status gantry_publisher_subscription_count(gantry_publisher *publisher, size_t *count);

/* Waits until `count` subscriptions are matched. After the time-out, returns GANTRY_TIMEOUT, or an error if a
 * subscription has another type or incompatible QoS. Blocks. */
gantry_status gantry_publisher_wait_for_subscriptions(gantry_publisher *publisher, size_t count, int64_t timeout_ns);

/* A sentence for each subscription that is not matched, because of another type or incompatible QoS. */
gantry_status gantry_publisher_mismatches(gantry_publisher *publisher, gantry_strings **sentences);

/* Creates a handle for the publisher's QoS events from now on. Another thread may use the handle, also after the
 * publisher is destroyed. */
gantry_status gantry_publisher_events(gantry_publisher *publisher, gantry_events **events);

gantry_status gantry_publisher_get_gid(const gantry_publisher *publisher, gantry_gid *gid);

/* The topic's full name. */
const char *gantry_publisher_topic(const gantry_publisher *publisher);

/* The size of the publisher's shared memory in bytes. */
size_t gantry_publisher_memory_bytes(const gantry_publisher *publisher);

/* ---- Subscriptions ---------------------------------------------------------------------------------------------- */

/* Creates a subscription. The arguments are as for `gantry_publisher_create`. */
gantry_status gantry_subscription_create(const gantry_node *node, const char *topic, const gantry_type *type,
                                         const gantry_qos *qos, gantry_subscription **subscription);
void gantry_subscription_destroy(gantry_subscription *subscription);

/* Takes the oldest sample without copying it. Returns GANTRY_NONE and an empty sample if there is none. Data path;
 * allocates if publishers have joined or left, or if more samples are held than ever before. */
gantry_status gantry_subscription_take(gantry_subscription *subscription, gantry_sample *sample);

/* Releases a sample, a request or a response. An empty struct has no effect. Any thread may call it, in any order. Data
 * path while the subscription and the publisher exist. */
gantry_status gantry_sample_release(gantry_sample *sample);

/* Returns the times, the sequence number and the publisher of a sample, a request or a response. Data path. */
gantry_status gantry_sample_get_info(const gantry_sample *sample, gantry_sample_info *info);

/* Waits until there is a sample to take: first a short busy-wait, then a sleep. After the time-out, returns
 * GANTRY_TIMEOUT, or an error if no publisher matches and one has another type or incompatible QoS. Blocks. */
gantry_status gantry_subscription_wait(gantry_subscription *subscription, int64_t timeout_ns);

/* Waits until `count` publishers are matched. Returns GANTRY_TIMEOUT after the time-out. Blocks. */
gantry_status gantry_subscription_wait_for_publishers(gantry_subscription *subscription, size_t count,
                                                      int64_t timeout_ns);

/* Turns the busy-wait of `gantry_subscription_wait` on (the default) or off. */
gantry_status gantry_subscription_set_busy_wait(gantry_subscription *subscription, bool on);

/* Sets the largest number of samples of one publisher that may be held at once; a take that would exceed it fails.
 * There is no limit by default. Inline messages (stored in a ring entry) do not count. */
gantry_status gantry_subscription_set_max_held_samples(gantry_subscription *subscription, size_t limit);

/* Returns a descriptor for poll and epoll that is readable while there is a sample to take. Before you wait on it
 * again, take until GANTRY_NONE. The descriptor belongs to the subscription. */
gantry_status gantry_subscription_get_fd(gantry_subscription *subscription, int32_t *fd);

/* Reads the state of each publisher, for `received`. */
gantry_status gantry_subscription_get_counts(gantry_subscription *subscription, gantry_subscription_counts *counts);

/* The count `overwritten` of `gantry_subscription_get_counts` alone, which costs one load. Data path. */
uint64_t gantry_subscription_overwritten(const gantry_subscription *subscription);

/* Counts a malformed sample. Logs the first, the tenth, the hundredth one and so on, with its publisher and the reason
 * `why`, which may be NULL. Release the sample afterwards. */
gantry_status gantry_subscription_skip_malformed(gantry_subscription *subscription, const gantry_sample *sample,
                                                 const char *why);

/* The number of matched publishers. */
gantry_status gantry_subscription_publisher_count(gantry_subscription *subscription, size_t *count);

/* A sentence for each publisher that is not matched, like `gantry_publisher_mismatches`. */
gantry_status gantry_subscription_mismatches(gantry_subscription *subscription, gantry_strings **sentences);

/* Creates a handle for the subscription's QoS events, like `gantry_publisher_events`. */
gantry_status gantry_subscription_events(gantry_subscription *subscription, gantry_events **events);

gantry_status gantry_subscription_get_gid(const gantry_subscription *subscription, gantry_gid *gid);

const char *gantry_subscription_topic(const gantry_subscription *subscription);

/* ---- Servers of services ---------------------------------------------------------------------------------------- */

/* Creates a server of a service. `qos` may be NULL. */
gantry_status gantry_service_create(const gantry_node *node, const char *name, const gantry_service_type *type,
                                    const gantry_qos *qos, gantry_service **service);
void gantry_service_destroy(gantry_service *service);

/* Takes the next request without copying it. Returns GANTRY_NONE if there is none. Send the response now or later, with
 * the request's id and this service. Data path, like `gantry_subscription_take`; allocates memory for the responses of
 * new clients. */
gantry_status gantry_service_take_request(gantry_service *service, gantry_sample *request, gantry_request_id *id);

/* Loans memory for the response to this request. Data path, like `gantry_publisher_loan`. */
gantry_status gantry_service_loan_response(gantry_service *service, gantry_request_id id, size_t size,
                                           gantry_loan *loan);

/* Sends a response. If the client has ended, the response is dropped without an error. After a failure, the caller
 * still has the loan. Data path. */
gantry_status gantry_service_send_response(gantry_service *service, gantry_request_id id, gantry_loan *loan);

/* The copy path. */
gantry_status gantry_service_send_response_copy(gantry_service *service, gantry_request_id id, const uint8_t *data,
                                                size_t size);

/* Counts and logs a malformed request, like `gantry_subscription_skip_malformed`. The request gets no response. */
gantry_status gantry_service_skip_malformed(gantry_service *service, const gantry_sample *request, const char *why);

/* Waits until there is a request to take, like `gantry_subscription_wait`. Blocks. */
gantry_status gantry_service_wait(gantry_service *service, int64_t timeout_ns);

/* Returns a descriptor that is readable while there is a request to take, like `gantry_subscription_get_fd`. */
gantry_status gantry_service_get_fd(gantry_service *service, int32_t *fd);

gantry_status gantry_service_client_count(gantry_service *service, size_t *count);

/* The number of responses that were lost because clients did not take their responses. */
uint64_t gantry_service_lost_responses(const gantry_service *service);

gantry_status gantry_service_mismatches(gantry_service *service, gantry_strings **sentences);

/* The service's full name. */
const char *gantry_service_name(const gantry_service *service);

/* ---- Clients of services ---------------------------------------------------------------------------------------- */

/* Creates a client. `qos` may be NULL. Its depth is the number of requests that may be in flight at once. */
gantry_status gantry_client_create(const gantry_node *node, const char *name, const gantry_service_type *type,
                                   const gantry_qos *qos, gantry_client **client);
void gantry_client_destroy(gantry_client *client);

/* Loans memory for a request. Data path, like `gantry_publisher_loan`. */
gantry_status gantry_client_loan_request(gantry_client *client, size_t size, gantry_loan *loan);

/* Sends a request, and writes its id to `id`, which may be NULL. After a failure, the caller still has the loan. May
 * fail with GANTRY_NO_SERVER or GANTRY_TOO_MANY_REQUESTS. Waits up to 100 ms if a server takes no requests. */
gantry_status gantry_client_send_request(gantry_client *client, gantry_loan *loan, gantry_request_id *id);

/* The copy path. */
gantry_status gantry_client_send_request_copy(gantry_client *client, const uint8_t *data, size_t size,
                                              gantry_request_id *id);

/* Takes the next response without copying it, and writes the id of its request to `id`, which may be NULL. Returns
 * GANTRY_NONE if there is none. GANTRY_SERVER_GONE and GANTRY_RESPONSE_LOST mean that the request `id` has ended
 * without a response. */
gantry_status gantry_client_take_response(gantry_client *client, gantry_sample *response, gantry_request_id *id);

/* Sends a request and waits for its response. The loan is empty afterwards, even after a failure. Returns
 * GANTRY_CALL_TIMEOUT after the time-out. Blocks. */
gantry_status gantry_client_call(gantry_client *client, gantry_loan *loan, int64_t timeout_ns,
                                 gantry_sample *response);

/* Does the same with a copy of the request; the response is not copied. Blocks. */
gantry_status gantry_client_call_copy(gantry_client *client, const uint8_t *data, size_t size, int64_t timeout_ns,
                                      gantry_sample *response);

/* Counts and logs a malformed response, like `gantry_subscription_skip_malformed`. */
gantry_status gantry_client_skip_malformed(gantry_client *client, const gantry_sample *response, const char *why);

/* Waits until there is a response to take, or a request has ended without a response. Blocks. */
gantry_status gantry_client_wait(gantry_client *client, int64_t timeout_ns);

/* Waits until a server is matched. Returns GANTRY_TIMEOUT after the time-out. Blocks. */
gantry_status gantry_client_wait_for_service(gantry_client *client, int64_t timeout_ns);

gantry_status gantry_client_server_count(gantry_client *client, size_t *count);

/* Gives up a request, so that its response is dropped. Returns GANTRY_NONE if the request is not in flight. */
gantry_status gantry_client_remove_pending_request(gantry_client *client, gantry_request_id id);

size_t gantry_client_pending_requests(const gantry_client *client);

/* Returns a descriptor that is readable while there is a response to take, like `gantry_subscription_get_fd`. It does
 * not become readable when a server ends, so also take now and then. */
gantry_status gantry_client_get_fd(gantry_client *client, int32_t *fd);

/* Returns the gid that the ids of the client's requests contain. */
gantry_status gantry_client_get_gid(const gantry_client *client, gantry_gid *gid);

gantry_status gantry_client_mismatches(gantry_client *client, gantry_strings **sentences);

/* The service's full name. */
const char *gantry_client_name(const gantry_client *client);

/* ---- Timers: any number of threads at once ---------------------------------------------------------------------- */

/* Creates a timer on the node's clock. It is due one period from now and then after each period, or only once. A period
 * of 0 is GANTRY_INVALID_ARGUMENT. */
gantry_status gantry_timer_create(const gantry_node *node, uint64_t period_ns, bool is_one_shot, gantry_timer **timer);
void gantry_timer_destroy(gantry_timer *timer);

/* Takes the due tick; returns GANTRY_NONE if none is due. Takes a lock for some nanoseconds; makes no system call. */
gantry_status gantry_timer_take(const gantry_timer *timer, gantry_tick *tick);

/* Stops the timer until it is reset. */
gantry_status gantry_timer_cancel(const gantry_timer *timer);

/* Restarts the timer: the next tick is due one period from now. */
gantry_status gantry_timer_reset(const gantry_timer *timer);

bool gantry_timer_is_canceled(const gantry_timer *timer);

/* The time until the next tick: 0 if a tick is due, -1 if there will be none. Use it as the time-out of your own poll
 * or epoll. */
int64_t gantry_timer_time_until_trigger(const gantry_timer *timer);

/* ---- Guard conditions: any number of threads at once ------------------------------------------------------------ */

gantry_status gantry_guard_condition_create(gantry_guard_condition **guard_condition);
void gantry_guard_condition_destroy(gantry_guard_condition *guard_condition);

/* Wakes the threads that wait for the guard condition. Several triggers before the next take count as one. */
gantry_status gantry_guard_condition_trigger(const gantry_guard_condition *guard_condition);

/* Returns GANTRY_OK if the guard condition was triggered since the last take, otherwise GANTRY_NONE. */
gantry_status gantry_guard_condition_take(const gantry_guard_condition *guard_condition);

/* Returns a descriptor that is readable from a trigger to the next take. It belongs to the guard condition. */
gantry_status gantry_guard_condition_get_fd(const gantry_guard_condition *guard_condition, int32_t *fd);

/* ---- Events ----------------------------------------------------------------------------------------------------- */

/* Creates a handle for events about changes of the graph from now on. */
gantry_status gantry_node_graph_events(const gantry_node *node, gantry_events **events);
void gantry_events_destroy(gantry_events *events);

/* Takes the next event; returns GANTRY_NONE if there is none. */
gantry_status gantry_events_take(gantry_events *events, gantry_event *event);

/* Returns a descriptor that is readable while there is an event. Before you wait on it again, take until GANTRY_NONE.
 * The descriptor belongs to the handle. */
gantry_status gantry_events_get_fd(gantry_events *events, int32_t *fd);

/* ---- Wait sets -------------------------------------------------------------------------------------------------- */

/* Creates a wait set for one thread, and for sources of the node's domain. */
gantry_status gantry_wait_set_create(const gantry_node *node, gantry_wait_set **wait_set);
void gantry_wait_set_destroy(gantry_wait_set *wait_set);

/* Waits until one of `count` sources has something to take, and sets `is_ready` of each source. Returns GANTRY_TIMEOUT
 * after the time-out. The wait set keeps no source afterwards. During the wait, no other thread may use its
 * subscriptions, services, clients and events. Allocates and blocks; the cost grows with the number of sources. A
 * program with its own event loop waits for the descriptors instead. */
gantry_status gantry_wait_set_wait(gantry_wait_set *wait_set, gantry_wait_source *sources, size_t count,
                                   int64_t timeout_ns);

#ifdef __cplusplus
}
#endif

#endif
