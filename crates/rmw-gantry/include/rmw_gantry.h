/*
 * Messages in place in nodes of ROS 2: functions of librmw_gantry.so beside rmw's. `gantry_rclcpp` uses them.
 *
 * Messages are bytes, as in gantry.h, whose rules of loans and samples hold. A failure is a return code of rmw, and its sentence
 * rmw's error state. rmw_create_publisher and rmw_create_subscription make publishers and subscriptions; any thread may call.
 */
#ifndef RMW_GANTRY_H
#define RMW_GANTRY_H

#include <gantry.h>
#include <rmw/types.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A later version adds functions at the end. */
typedef struct rmw_gantry_functions {
    size_t struct_size;
    /* The next message that passes the subscription's filters; the sample is empty if there is none now. Its bytes come from
     * another process: check them before use. */
    rmw_ret_t (*take)(const rmw_subscription_t *subscription, gantry_sample *sample);
    /* Counts a sample that is no message of its type as lost, and logs it, as gantry_subscription_skip_malformed. */
    rmw_ret_t (*skip_malformed)(const rmw_subscription_t *subscription, const gantry_sample *sample, const char *why);
    /* Memory for a message of `size` bytes, which holds old bytes. The loan is empty after a failure. */
    rmw_ret_t (*loan)(const rmw_publisher_t *publisher, size_t size, gantry_loan *loan);
    /* Publishes a loan of this publisher, which is empty after this; after a failure it is the caller's still. */
    rmw_ret_t (*publish)(const rmw_publisher_t *publisher, gantry_loan *loan);
} rmw_gantry_functions;

/* The functions, as long as the library is loaded. */
const rmw_gantry_functions *rmw_gantry_in_place(void);

#ifdef __cplusplus
}
#endif

#endif
