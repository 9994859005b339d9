#include "message.h"

#include "bytes.h"
#include "messages_1.h"
#include "messages_2.h"

typedef performance_test_msgs_msg_dds__PerformanceHeader_ header;

enum { STAMP_BYTES = 16 }; /* time and id of a message without a type */

static const int64_t SECOND_NS = 1000000000;

static const struct type types[] = {
#include "types.inc"
};

static const struct type bytes_type = {.descriptor = &perf_test_Bytes_desc, .bytes = sizeof(perf_test_Bytes),
                                       .call_descriptor = &perf_test_BytesCall_desc,
                                       .call_bytes = sizeof(perf_test_BytesCall),
                                       .time_offset = 0, .id_offset = sizeof(int64_t)};

struct form form_of(const perf_test_message *message, bool raw, bool is_call) {
    struct form form = {.message = message, .type = raw ? &bytes_type : NULL, .raw = raw,
                        .content = raw ? PERF_TEST_SEQUENCE : message->content,
                        .prefix_bytes = is_call ? sizeof(struct call) : 0};
    for (size_t i = 0; !raw && i < sizeof types / sizeof types[0]; i++) {
        bool is_same = strcmp(types[i].name, message->name) == 0 && strcmp(types[i].layout, message->layout) == 0;
        if (is_same) form.type = &types[i];
    }
    if (form.type) {
        form.descriptor = is_call ? form.type->call_descriptor : form.type->descriptor;
        form.bytes = is_call ? form.type->call_bytes : form.type->bytes;
    }
    return form;
}

/* Returns the length of the sequence or text in each sent message. */
static size_t variable_bytes(const struct form *form) {
    if (form->raw) return form->message->bytes;
    return form->type->payload_bytes ? form->type->payload_bytes : form->message->unbounded_bytes;
}

void *new_message(const struct form *form) {
    char *data = dds_alloc(form->bytes);
    if (!data) return NULL;
    memset(data, 0, form->bytes);
    if (form->content & (PERF_TEST_PLAIN | PERF_TEST_FIELDS)) return data;
    char *field = data + form->prefix_bytes + form->type->payload_offset;
    size_t bytes = variable_bytes(form);
    uint8_t *buffer = dds_alloc(bytes + 1);
    if (!buffer) return dds_free(data), NULL;
    memset(buffer, 0, bytes + 1);
    if (form->content == PERF_TEST_TEXT) {
        memset(buffer, 'Z', bytes);
        *(uint8_t **)field = buffer;
    } else {
        *(dds_sequence_t *)field = (dds_sequence_t){bytes, bytes, buffer, true};
    }
    return data;
}

/* Returns the payload of a message, and writes its length to `bytes`. */
static uint8_t *payload_of(const struct form *form, const void *data, size_t *bytes) {
    char *field = (char *)data + form->type->payload_offset;
    const dds_sequence_t *sequence = (const dds_sequence_t *)field;
    size_t stamp_bytes = form->raw ? STAMP_BYTES : 0;
    switch (form->content) {
    case PERF_TEST_BOUNDED_SEQUENCE:
    case PERF_TEST_SEQUENCE:
        *bytes = sequence->_length > stamp_bytes ? sequence->_length - stamp_bytes : 0;
        return sequence->_buffer + stamp_bytes;
    case PERF_TEST_FIELDS: /* the array is the payload; messages of single fields have none */
        *bytes = form->type->payload_offset > 0 ? form->type->payload_bytes : 0;
        return (uint8_t *)field;
    case PERF_TEST_PLAIN:
        *bytes = form->type->payload_bytes;
        return (uint8_t *)field;
    default:
        *bytes = 0;
        return NULL;
    }
}

void write_message(const struct form *form, void *sample, perf_test_draft *draft) {
    const struct type *type = form->type;
    char *data = (char *)sample + form->prefix_bytes;
    size_t bytes;
    uint8_t *payload = payload_of(form, data, &bytes);
    if (bytes > 0) perf_test_draft_write(draft, payload, bytes);
    perf_test_stamp stamp = perf_test_draft_stamp(draft);
    uint64_t id = stamp.id & form->message->last_id;
    if (type->is_stamped) {
        header *to = (void *)data;
        *to = (header){{stamp.time_ns / SECOND_NS, stamp.time_ns % SECOND_NS}, id, stamp.rate_hz, bytes};
        return;
    }
    char *begin = form->raw ? (char *)(payload - STAMP_BYTES) : data;
    memcpy(begin + type->time_offset, &stamp.time_ns, sizeof stamp.time_ns);
    memcpy(begin + type->id_offset, &id, sizeof id);
}

/* Returns the length of the whole message, computed from the length of its sequence or text. */
static uint64_t length_of(const struct form *form, const void *data) {
    const char *field = (const char *)data + form->type->payload_offset;
    uint64_t others_bytes = form->message->bytes - variable_bytes(form);
    switch (form->content) {
    case PERF_TEST_BOUNDED_SEQUENCE:
    case PERF_TEST_SEQUENCE: return others_bytes + ((const dds_sequence_t *)field)->_length;
    case PERF_TEST_TEXT: return others_bytes + strlen(*(const char *const *)field);
    default: return form->message->bytes;
    }
}

void read_message(const struct form *form, const void *sample, perf_test_taken *taken) {
    const struct type *type = form->type;
    const char *data = (const char *)sample + form->prefix_bytes;
    taken->payload = payload_of(form, data, &taken->payload_bytes);
    taken->length_bytes = length_of(form, data);
    if (type->is_stamped) {
        const header *from = (const void *)data;
        taken->time_ns = from->stamp.sec * SECOND_NS + from->stamp.nanosec;
        taken->id = from->tracking_number;
        return;
    }
    if (form->raw && taken->length_bytes < STAMP_BYTES) return; /* perf_test reports the wrong length */
    const char *begin = form->raw ? (const char *)taken->payload - STAMP_BYTES : data;
    memcpy(&taken->time_ns, begin + type->time_offset, sizeof taken->time_ns);
    memcpy(&taken->id, begin + type->id_offset, sizeof taken->id);
}
