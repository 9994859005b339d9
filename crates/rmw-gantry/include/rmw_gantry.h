/*
 * Functions of librmw_gantry.so beside rmw's, for ROS 2 nodes that read and write messages in shared memory.
 * `gantry_rclcpp` uses them.
 *
 * A message is a byte array, as in gantry.h, whose rules for loans and samples apply here. After a failure, a function
 * returns a code of rmw and sets rmw's error state. rmw_create_publisher and rmw_create_subscription create the
 * publishers and subscriptions. Any thread may call the functions.
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
