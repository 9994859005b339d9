// A publisher: a data writer and, on the copy path, the message that it sends.

#include <fastdds/dds/publisher/DataWriter.hpp>
#include <fastdds/rtps/common/WriteParams.hpp>

#include <optional>
#include <stdexcept>

#include "endpoint.hpp"
#include "marked_type.hpp"
#include "session.hpp"

using namespace eprosima::fastdds::dds;
using eprosima::fastdds::rtps::GUID_t;
using eprosima::fastdds::rtps::SampleIdentity;
using eprosima::fastdds::rtps::WriteParams;

namespace {

struct Writer {
    Session &session;
    Type type;
    DataWriter *writer;
    void *message; // nullptr if the publisher loans
    std::optional<bool> is_in_place; // whether loans are read in place; set at the first loan
    const SampleIdentity *request;   // of a server: the request that it answers; otherwise nullptr
};

void destroy(void *endpoint) {
    Writer *self = static_cast<Writer *>(endpoint);
    if (self->message) self->type.support->delete_data(self->message);
    self->session.publisher->delete_datawriter(self->writer);
    delete self;
}

void *create(void *session_given, const perf_test_run *run, const perf_test_endpoint *plan, perf_test_error *error) {
    return guarded(error, static_cast<void *>(nullptr), [&]() -> void * {
        Session &session = *static_cast<Session *>(session_given);
        Type type = session.type(plan->message);
        DataWriterQos qos = session.writer_qos(plan->qos, *type.message);
        DataWriter *writer = session.publisher->create_datawriter(session.topic(*plan, true, type), qos);
        if (!writer) throw std::runtime_error("Fast DDS has not created a data writer; its own message is above");
        void *message = nullptr;
        bool loans = run->zero_copy || (plan->pass_by == PERF_TEST_LOANED_MSG && type.is_loanable());
        if (!loans) type.message->prepare(message = type.support->create_data());
        return new Writer{session, std::move(type), writer, message, {}, nullptr};
    });
}

int64_t matched(void *endpoint, perf_test_error *error) {
    PublicationMatchedStatus status;
    if (static_cast<Writer *>(endpoint)->writer->get_publication_matched_status(status) == RETCODE_OK)
        return status.current_count;
    return perf_test_fail(error, "Fast DDS does not report the number of matched data readers");
}

void mismatches(void *endpoint, perf_test_sentences *sentences) {
    OfferedIncompatibleQosStatus status;
    static_cast<Writer *>(endpoint)->writer->get_offered_incompatible_qos_status(status);
    if (status.total_count == 0) return;
    char sentence[160];
    snprintf(sentence, sizeof sentence, "%d data readers ask for another QoS, policy %u of the DDS specification",
             status.total_count, static_cast<unsigned>(status.last_policy_id));
    perf_test_sentences_add(sentences, sentence);
}

bool source(void *endpoint, uint8_t id[16]) {
    const auto &guid = static_cast<Writer *>(endpoint)->writer->guid();
    memcpy(id, guid.guidPrefix.value, sizeof guid.guidPrefix.value);
    memcpy(id + sizeof guid.guidPrefix.value, guid.entityId.value, sizeof guid.entityId.value);
    return true;
}

// Writes a message. A server writes the response to its current request.
ReturnCode_t write(Writer *self, void *message) {
    if (!self->request) return self->writer->write(message, HANDLE_NIL);
    WriteParams params;
    params.related_sample_identity(*self->request);
    return self->writer->write(message, params);
}

int publish(void *endpoint, perf_test_draft *draft, perf_test_sent *sent, perf_test_error *error) {
    return guarded(error, -1, [&] {
        Writer *self = static_cast<Writer *>(endpoint);
        const MessageType &type = *self->type.message;
        void *message = self->message;
        if (!message && self->writer->loan_sample(message) != RETCODE_OK)
            return perf_test_fail(error, "Fast DDS has no free sample to loan");
        if (!self->message && !self->is_in_place) self->is_in_place = self->session.reaches_all_in_place(message);
        Payload payload = type.payload(message);
        perf_test_draft_write(draft, payload.start, payload.bytes);
        type.stamp(message, perf_test_draft_stamp(draft));
        ReturnCode_t result = write(self, message);
        if (result != RETCODE_OK) {
            if (!self->message) self->writer->discard_loan(message);
            return perf_test_fail(error, "Fast DDS has not written the message: return code %d", result);
        }
        sent->loaned = self->is_in_place.value_or(false);
        if (self->session.run.phases) sent->serialised_ns = std::exchange(marks.serialised_ns, 0);
        return 0;
    });
}

} // namespace

const GUID_t &guid_of(void *publisher) { return static_cast<Writer *>(publisher)->writer->guid(); }

void answer_requests_of(void *publisher, void *subscription) {
    static_cast<Writer *>(publisher)->request = taken_last(subscription);
}

const perf_test_publisher_functions PUBLISHER_FUNCTIONS = {
    {matched, mismatches, nullptr, destroy}, create, publish, source};
