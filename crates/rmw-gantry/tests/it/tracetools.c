// A substitute for ROS 2's libtracetools.so, with the functions that an RMW calls. It prints each call as a line. The
// real library is no use in a test: it records with LTTng into a session that the test cannot read.

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

static bool is_enabled(void)
{
    return getenv("TRACED") != NULL;
}

static const char *hex(const uint8_t *gid)
{
    static char text[33];
    for (int i = 0; i < 16; i++) snprintf(text + 2 * i, 3, "%02x", gid[i]);
    return text;
}

#define TRACEPOINT(name, arguments, ...) \
    bool ros_trace_enabled_##name(void) { return is_enabled(); } \
    void ros_trace_do_##name arguments { printf(#name " " __VA_ARGS__); fflush(stdout); }

typedef const void *pointer;

TRACEPOINT(rmw_publisher_init, (pointer publisher, const uint8_t *gid), "%p %s\n", publisher, hex(gid))
TRACEPOINT(rmw_subscription_init, (pointer subscription, const uint8_t *gid), "%p %s\n", subscription, hex(gid))
TRACEPOINT(rmw_client_init, (pointer client, const uint8_t *gid), "%p %s\n", client, hex(gid))
TRACEPOINT(rmw_publish, (pointer publisher, pointer message, int64_t time), "%p %p %ld\n", publisher, message, time)
TRACEPOINT(rmw_take, (pointer subscription, pointer message, int64_t time, bool taken),
           "%p %p %ld %d\n", subscription, message, time, taken)
TRACEPOINT(rmw_send_request, (pointer client, pointer request, int64_t sequence), "%p %p %ld\n", client, request, sequence)
TRACEPOINT(rmw_take_request, (pointer service, pointer request, const uint8_t *gid, int64_t sequence, bool taken),
           "%p %p %s %ld %d\n", service, request, hex(gid), sequence, taken)
TRACEPOINT(rmw_send_response, (pointer service, pointer response, const uint8_t *gid, int64_t sequence, int64_t time),
           "%p %p %s %ld %ld\n", service, response, hex(gid), sequence, time)
TRACEPOINT(rmw_take_response, (pointer client, pointer response, int64_t sequence, int64_t time, bool taken),
           "%p %p %ld %ld %d\n", client, response, sequence, time, taken)
