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

/* The functions. A later version may add functions at the end. */
typedef struct rmw_gantry_functions {
    size_t struct_size;
    /* Takes the next message that passes the subscription's filters. If there is none now, the sample is empty. The
     * bytes come from another process: check them before use. */
    rmw_ret_t (*take)(const rmw_subscription_t *subscription, gantry_sample *sample);
    /* Counts a malformed sample as lost, and logs it, as gantry_subscription_skip_malformed does. */
    rmw_ret_t (*skip_malformed)(const rmw_subscription_t *subscription, const gantry_sample *sample, const char *why);
    /* Loans memory for a message of `size` bytes, which contains old bytes. The loan is empty after a failure. */
    rmw_ret_t (*loan)(const rmw_publisher_t *publisher, size_t size, gantry_loan *loan);
    /* Publishes a loan of this publisher, which is empty afterwards. After a failure, the caller still has the loan. */
    rmw_ret_t (*publish)(const rmw_publisher_t *publisher, gantry_loan *loan);
} rmw_gantry_functions;

/* Returns the functions, which stay valid as long as the library is loaded. */
const rmw_gantry_functions *rmw_gantry_in_place(void);

#ifdef __cplusplus
}
#endif

#endif
