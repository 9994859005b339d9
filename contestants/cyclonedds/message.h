/* A message in memory, as idlc lays it out: its type, its stamp and its payload. */
#ifndef MESSAGE_H
#define MESSAGE_H

#include <dds/dds.h>

#include "perf_test_backend.h"

/* A type of messages; the build generates the table from the IDL of perf_test. */
struct type {
    const char *layout, *name;
    const dds_topic_descriptor_t *descriptor;
    size_t bytes;
    const dds_topic_descriptor_t *call_descriptor; /* of requests and responses: a struct call and then the message */
    size_t call_bytes;
    bool is_stamped;                   /* it begins with iRobot's header, which has time and id */
    size_t time_offset, id_offset;     /* of other messages */
    size_t payload_offset;             /* of an array, a sequence or a text */
    size_t payload_bytes;              /* of an array, or of a sequence that is sent at its capacity */
};

/* The beginning of a request and of its response: which client sent it, and its number. */
struct call {
    uint64_t client;
    int64_t number;
};

/* The messages of one endpoint. */
struct form {
    const perf_test_message *message;
    const struct type *type;
    const dds_topic_descriptor_t *descriptor;
    size_t bytes;
    size_t prefix_bytes; /* the length of the struct call before the message; 0 if there is none */
    uint32_t content; /* PERF_TEST_PLAIN ...; PERF_TEST_SEQUENCE of bytes without a type */
    bool raw;
};

/* The form of the run's messages, or of requests and responses; its type is NULL if there is none of that name. */
struct form form_of(const perf_test_message *message, bool raw, bool is_call);

/* A message of this form, with the sequence or the text that every message has; NULL: there is no memory.
   dds_sample_free frees it. */
void *new_message(const struct form *form);

/* Writes payload and stamp into a sample. Its last call reads the clock. */
void write_message(const struct form *form, void *sample, perf_test_draft *draft);

/* Writes time, id, payload and length of a sample to `taken`. */
void read_message(const struct form *form, const void *sample, perf_test_taken *taken);

#endif
