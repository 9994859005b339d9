/* Messages in memory, in the layout of Cyclone DDS's IDL compiler: their types, stamps (time and id) and payloads. */
#ifndef MESSAGE_H
#define MESSAGE_H

#include <dds/dds.h>

#include "perf_test_backend.h"

/* A message type. The build generates the table of all types from the IDL of perf_test. */
struct type {
    const char *layout, *name;
    const dds_topic_descriptor_t *descriptor;
    size_t bytes;
    const dds_topic_descriptor_t *call_descriptor; /* for requests and responses: struct call, then the message */
    size_t call_bytes;
    bool is_stamped;                   /* starts with iRobot's header, which has time and id */
    size_t time_offset, id_offset;     /* for types without this header */
    size_t payload_offset;             /* the offset of the array, sequence or text */
    size_t payload_bytes;              /* the size of the array, or the capacity of the sequence */
};

/* The first fields of a request and of its response: the id of the client and the number of the request. */
struct call {
    uint64_t client;
    int64_t number;
};

/* The type and layout of all messages of one endpoint. */
struct form {
    const perf_test_message *message;
    const struct type *type;
    const dds_topic_descriptor_t *descriptor;
    size_t bytes;
    size_t prefix_bytes; /* the length of the struct call before the message; 0 if there is none */
    uint32_t content; /* PERF_TEST_PLAIN etc.; with --raw PERF_TEST_SEQUENCE */
    bool raw;
};

/* Returns the form of messages or, with is_call, of requests and responses. Its type is NULL if the type is unknown. */
struct form form_of(const perf_test_message *message, bool raw, bool is_call);

/* Returns a new message with its sequence or text allocated at full length; NULL if there is no memory.
   dds_sample_free frees the message. */
void *new_message(const struct form *form);

/* Writes the payload into a sample, reads the clock, then writes the stamp. */
void write_message(const struct form *form, void *sample, perf_test_draft *draft);

/* Reads time, id, payload and length of a sample into `taken`. */
void read_message(const struct form *form, const void *sample, perf_test_taken *taken);

#endif
