/* Shared by the programs: checks that print the line and the last error, and a type without a length limit. */
#ifndef CHECK_H
#define CHECK_H

#include <gantry.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CHECK(condition)                                                                                              \
    do {                                                                                                              \
        if (!(condition)) {                                                                                           \
            fprintf(stderr, "%s:%d: not so: %s; the last error: %s\n", __FILE__, __LINE__, #condition,                \
                    gantry_last_error());                                                                             \
            exit(1);                                                                                                  \
        }                                                                                                             \
    } while (0)

#define OK(call) CHECK((call) == GANTRY_OK)

/* The longest time of any wait. Only a program that hangs reaches it. */
#define PATIENCE INT64_C(60000000000)

#define BYTES {sizeof(gantry_type), "test/msg/Bytes", NULL, 0, {0}}

static inline gantry_node *new_node(const char *name) {
    gantry_node *node = NULL;
    OK(gantry_node_create(name, NULL, &node));
    return node;
}

/* True if the text of the last error contains these words. */
static inline int error_says(const char *words) { return strstr(gantry_last_error(), words) != NULL; }

#endif
