// The participant of this process, its topics, and the quality of service of its endpoints.

#pragma once

#include <fastdds/dds/domain/DomainParticipant.hpp>
#include <fastdds/dds/publisher/Publisher.hpp>
#include <fastdds/dds/subscriber/Subscriber.hpp>
#include <fastdds/dds/topic/TypeSupport.hpp>
#include <memory>
#include <mutex>

#include "message_type.hpp"
#include "transport.hpp"

struct ParticipantDeleter {
    void operator()(eprosima::fastdds::dds::DomainParticipant *participant) const;
};

class Session {
public:
    // Throws a std::runtime_error, a sentence. The run lives longer.
    explicit Session(const perf_test_run &run);

    // The topic of this name, of the type of the run. Throws a std::runtime_error.
    eprosima::fastdds::dds::Topic *topic(const char *name);
    eprosima::fastdds::dds::DataWriterQos writer_qos(const perf_test_qos &asked) const;
    eprosima::fastdds::dds::DataReaderQos reader_qos(const perf_test_qos &asked) const;
    void effective(perf_test_effective *effective) const;
    // Whether a loan at this address reaches the subscriptions in place. Reads the mappings of this process.
    bool is_in_place(const void *loan) const;

    const perf_test_run &run;
    std::unique_ptr<MessageType> message;
    eprosima::fastdds::dds::TypeSupport type;
    std::unique_ptr<eprosima::fastdds::dds::DomainParticipant, ParticipantDeleter> participant;
    eprosima::fastdds::dds::Publisher *publisher = nullptr;
    eprosima::fastdds::dds::Subscriber *subscriber = nullptr;

private:
    template <class Qos> void request(Qos &qos, const perf_test_qos &asked) const;

    Transport transport = Transport::LIBRARY_DEFAULT;
    bool is_asynchronous;
    std::mutex topics;
};
