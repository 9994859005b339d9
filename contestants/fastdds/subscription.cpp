// A subscription: a data reader with its wait set and, if it does not read in place, the message into which it takes.
//
// Fast DDS does not protect a loan while it is read: a publisher reuses the memory after it has sent as many further
// messages as its history holds. Users must call is_sample_valid after reading. perf_test reads a message only once,
// when it is taken. If publishers send as fast as possible, a subscription therefore copies each loan, checks the copy,
// and reports the message as copied.

#include <fastdds/dds/core/LoanableSequence.hpp>
#include <fastdds/dds/core/condition/WaitSet.hpp>
#include <fastdds/dds/subscriber/DataReader.hpp>
#include <fastdds/dds/subscriber/SampleInfo.hpp>

#include <optional>
#include <stdexcept>

#include "endpoint.hpp"
#include "marked_type.hpp"
#include "session.hpp"

using namespace eprosima::fastdds::dds;
using eprosima::fastdds::rtps::GUID_t;
using eprosima::fastdds::rtps::SampleIdentity;

namespace {

struct Reader {
    Session &session;
    Type type;
    DataReader *reader;
    bool loans;
    void *message; // nullptr if the subscription reads in place
    bool has_wait_set;
    WaitSet waits;
    ConditionSeq active;
    // The loan of one sample, whose type is known only to the data reader.
    LoanableSequence<uint8_t> samples;
    SampleInfoSeq infos;
    std::optional<bool> is_in_place; // whether loans are read in place; set at the first loan
    GUID_t client;                   // of a client: the data writer of its requests; otherwise unknown
    SampleIdentity taken_last;
};

void release(void *endpoint) {
    Reader *self = static_cast<Reader *>(endpoint);
    if (!self->samples.has_ownership()) self->reader->return_loan(self->samples, self->infos);
}

void destroy(void *endpoint) {
    Reader *self = static_cast<Reader *>(endpoint);
    release(self);
    if (self->message) self->type.support->delete_data(self->message);
    if (self->has_wait_set) self->waits.detach_condition(self->reader->get_statuscondition());
    self->session.subscriber->delete_datareader(self->reader);
    delete self;
}

void *create(void *session, const perf_test_run *run, const perf_test_endpoint *plan, perf_test_error *error) {
    Reader *self = static_cast<Reader *>(create_reader(session, run, plan, error));
    if (!self) return nullptr;
    // An executor has its own read condition. A reader that polls needs no condition: each message would signal it in
    // vain.
    if (!run->executor && run->wait != PERF_TEST_SPIN) {
        StatusCondition &condition = self->reader->get_statuscondition();
        condition.set_enabled_statuses(StatusMask::data_available());
        self->waits.attach_condition(condition);
        self->has_wait_set = true;
    }
    ReturnCode_t result = self->reader->enable();
    if (result == RETCODE_OK) return self;
    destroy(self);
    perf_test_fail(error, "Fast DDS has not enabled a data reader: return code %d", result);
    return nullptr;
}

int64_t matched(void *endpoint, perf_test_error *error) {
    SubscriptionMatchedStatus status;
    if (static_cast<Reader *>(endpoint)->reader->get_subscription_matched_status(status) == RETCODE_OK)
        return status.current_count;
    return perf_test_fail(error, "Fast DDS does not report the number of matched data writers");
}

void mismatches(void *endpoint, perf_test_sentences *sentences) {
    RequestedIncompatibleQosStatus status;
    static_cast<Reader *>(endpoint)->reader->get_requested_incompatible_qos_status(status);
    if (status.total_count == 0) return;
    char sentence[160];
    snprintf(sentence, sizeof sentence, "%d data writers offer another QoS, policy %u of the DDS specification",
             status.total_count, static_cast<unsigned>(status.last_policy_id));
    perf_test_sentences_add(sentences, sentence);
}

// The library reads the time of reception from the realtime clock. By UDP and by the default transport in shared
// memory, a message of more than 64 KB comes in fragments. The time is then the arrival of the first fragment, and the
// phase `wake-up` contains the arrival of the others.
int64_t monotonic_ns(const eprosima::fastdds::rtps::Time_t &reception) {
    timespec day;
    clock_gettime(CLOCK_REALTIME, &day);
    int64_t age_ns = (day.tv_sec - reception.seconds()) * INT64_C(1000000000) + day.tv_nsec - reception.nanosec();
    return perf_test_now_ns() - age_ns;
}

void describe(Reader *self, const void *message, const SampleInfo &info, perf_test_taken *taken) {
    const MessageType &type = *self->type.message;
    memcpy(taken->source, info.publication_handle.value, sizeof taken->source);
    type.read(message, taken);
    Payload payload = type.payload(const_cast<void *>(message));
    taken->payload = payload.start;
    taken->payload_bytes = payload.bytes;
    if (!self->session.run.phases) return;
    taken->arrived_ns = monotonic_ns(info.reception_timestamp);
    taken->in_hand_ns = std::exchange(marks.in_hand_ns, 0);
}

// True if a sample is for this endpoint; stores the identity of the sample. A sample without data only reports that a
// publisher has left. A client gets the responses to all clients.
bool is_own(Reader *self, const SampleInfo &info) {
    if (!info.valid_data) return false;
    self->taken_last = info.sample_identity;
    return self->client == GUID_t::unknown() || self->client == info.related_sample_identity.writer_guid();
}

int take_copy(Reader *self, perf_test_taken *taken, perf_test_error *error) {
    for (SampleInfo info;;) {
        ReturnCode_t result = self->reader->take_next_sample(self->message, &info);
        taken->received_ns = perf_test_now_ns();
        if (result == RETCODE_NO_DATA) return 0;
        if (result != RETCODE_OK)
            return perf_test_fail(error, "Fast DDS has not taken a message: return code %d", result);
        if (!is_own(self, info)) continue;
        describe(self, self->message, info, taken);
        return 1;
    }
}

int take_loan(Reader *self, perf_test_taken *taken, perf_test_error *error) {
    for (;; release(self)) {
        ReturnCode_t result = self->reader->take(self->samples, self->infos, 1);
        taken->received_ns = perf_test_now_ns();
        if (result == RETCODE_NO_DATA) return 0;
        if (result != RETCODE_OK)
            return perf_test_fail(error, "Fast DDS has not loaned a message: return code %d", result);
        if (!is_own(self, self->infos[0])) continue;
        const void *loan = self->samples.buffer()[0];
        if (self->message) memcpy(self->message, loan, self->type.message->memory_bytes());
        describe(self, self->message ? self->message : loan, self->infos[0], taken);
        if (!self->reader->is_sample_valid(loan, &self->infos[0])) continue;
        if (self->message) taken->received_ns = perf_test_now_ns();
        if (!self->is_in_place) self->is_in_place = !self->message && self->session.is_in_place(loan);
        taken->loaned = *self->is_in_place;
        return 1;
    }
}

int take(void *endpoint, perf_test_taken *taken, perf_test_error *error) {
    return guarded(error, -1, [&] {
        Reader *self = static_cast<Reader *>(endpoint);
        return self->loans ? take_loan(self, taken, error) : take_copy(self, taken, error);
    });
}

int wait_for_message(void *endpoint, int64_t timeout_ns, perf_test_error *error) {
    return guarded(error, -1, [&] {
        Reader *self = static_cast<Reader *>(endpoint);
        eprosima::fastdds::dds::Duration_t timeout(static_cast<int32_t>(timeout_ns / 1000000000),
                                               static_cast<uint32_t>(timeout_ns % 1000000000));
        ReturnCode_t result = self->waits.wait(self->active, timeout);
        if (result == RETCODE_OK || result == RETCODE_TIMEOUT) return 0;
        return perf_test_fail(error, "Fast DDS's wait set has failed: return code %d", result);
    });
}

} // namespace

void *create_reader(void *session_given, const perf_test_run *run, const perf_test_endpoint *plan,
                    perf_test_error *error) {
    return guarded(error, static_cast<void *>(nullptr), [&]() -> void * {
        Session &session = *static_cast<Session *>(session_given);
        Type type = session.type(plan->message);
        DataReaderQos qos = session.reader_qos(plan->qos, *type.message);
        DataReader *reader = session.subscriber->create_datareader(session.topic(*plan, false, type), qos);
        if (!reader) throw std::runtime_error("Fast DDS has not created a data reader; its own message is above");
        bool is_overrun = plan->pace_messages == 0 && plan->qos.history == PERF_TEST_KEEP_LAST;
        bool reads_in_place = plan->pass_by & (PERF_TEST_SHARED_PTR | PERF_TEST_LOANED_MSG);
        bool loans = run->zero_copy || (reads_in_place && type.is_loanable());
        void *message = nullptr;
        if (!loans || is_overrun) type.message->prepare(message = type.support->create_data());
        return new Reader{session, std::move(type), reader, loans, message, false, {}, {}, {}, {}, {}, {}, {}};
    });
}

DataReader *reader_of(void *subscription) { return static_cast<Reader *>(subscription)->reader; }

const SampleIdentity *taken_last(void *subscription) { return &static_cast<Reader *>(subscription)->taken_last; }

void take_responses_to(void *subscription, void *publisher) {
    static_cast<Reader *>(subscription)->client = guid_of(publisher);
}

const perf_test_subscription_functions SUBSCRIPTION_FUNCTIONS = {
    {matched, mismatches, nullptr, destroy}, create, take, release, wait_for_message, nullptr, nullptr, nullptr};
