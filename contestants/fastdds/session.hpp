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

// The type of an endpoint's messages.
struct Type {
    // True if messages can be written and read in the memory of the library. A loan has the length of a serialised
    // message, and must have room for the struct.
    bool is_loanable() const;

    std::unique_ptr<MessageType> message;
    eprosima::fastdds::dds::TypeSupport support;
};

struct ParticipantDeleter {
    void operator()(eprosima::fastdds::dds::DomainParticipant *participant) const;
};

class Session {
public:
    // Throws a std::runtime_error with a sentence. `run` must outlive the session.
    explicit Session(const perf_test_run &run);

    // Registers the type of these messages with the participant. Throws a std::runtime_error.
    Type type(const perf_test_message &message);
    // Finds or creates the topic of an endpoint. A client and a server have two topics, for requests and for responses:
    // `publishes` selects the topic on which they publish. Throws a std::runtime_error.
    eprosima::fastdds::dds::Topic *topic(const perf_test_endpoint &plan, bool publishes, const Type &type);
    eprosima::fastdds::dds::DataWriterQos writer_qos(const perf_test_qos &asked, const MessageType &message) const;
    eprosima::fastdds::dds::DataReaderQos reader_qos(const perf_test_qos &asked, const MessageType &message) const;
    void effective(perf_test_effective *effective) const;
    // True if a loan at this address is read in place. Reads the mappings of this process.
    bool is_in_place(const void *loan) const;
    // True if all subscriptions read a publisher's loan in place. In a topology some subscriptions may be in this
    // process, and direct delivery copies a message out of the memory of data sharing.
    bool reaches_all_in_place(const void *loan) const;

    const perf_test_run &run;
    std::unique_ptr<eprosima::fastdds::dds::DomainParticipant, ParticipantDeleter> participant;
    eprosima::fastdds::dds::Publisher *publisher = nullptr;
    eprosima::fastdds::dds::Subscriber *subscriber = nullptr;

private:
    template <class Qos> void request(Qos &qos, const perf_test_qos &asked, const MessageType &message) const;

    Transport transport = Transport::LIBRARY_DEFAULT;
    bool is_asynchronous;
    std::mutex names; // protects the look-up and creation of types and topics
};
