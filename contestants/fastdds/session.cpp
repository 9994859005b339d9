#include "session.hpp"

#include <fastdds/dds/domain/DomainParticipantFactory.hpp>

#include <algorithm>
#include <fstream>
#include <stdexcept>
#include <string>

#include "marked_type.hpp"

using namespace eprosima::fastdds::dds;

namespace {

// The longest time for which a publisher with a full history waits for its subscriptions.
const eprosima::fastdds::dds::Duration_t MAX_BLOCKING_TIME{5, 0};
// The pool of data sharing is as large as the history, so the pool of a KEEP_ALL history is limited.
constexpr uint64_t KEEP_ALL_POOL_BYTES = 1 << 30;

std::string type_name(const perf_test_message &message, bool raw) {
    if (raw) return "perf_test::Raw" + std::to_string(message.bytes);
    // The name of the type in ROS 2: performance_test::msg::dds_::Array1k_.
    std::string name = message.type_name;
    return name.substr(0, name.find('/')) + "::msg::dds_::" + message.name + "_";
}

// A service has a topic of requests and a topic of responses, as in ROS 2.
std::string topic_name(const perf_test_endpoint &plan, bool publishes) {
    std::string name = plan.topic;
    if (!(plan.kind & (PERF_TEST_CLIENT | PERF_TEST_SERVER))) return name;
    bool is_request = publishes == (plan.kind == PERF_TEST_CLIENT);
    return is_request ? "rq" + name + "Request" : "rr" + name + "Reply";
}

template <class Entity> Entity *created(Entity *entity, const char *what) {
    using namespace std::string_literals;
    if (!entity) throw std::runtime_error("Fast DDS has not created "s + what + "; its own message is above");
    return entity;
}

// True if an address lies in the shared memory of data sharing.
bool is_in_data_sharing(const void *address) {
    std::ifstream mappings("/proc/self/maps");
    for (std::string line; std::getline(mappings, line);) {
        if (line.find("/fast_datasharing_") == std::string::npos) continue;
        unsigned long long start = 0, end = 0;
        auto wanted = reinterpret_cast<uintptr_t>(address);
        if (sscanf(line.c_str(), "%llx-%llx", &start, &end) == 2 && start <= wanted && wanted < end) return true;
    }
    return false;
}

} // namespace

void ParticipantDeleter::operator()(DomainParticipant *participant) const {
    participant->delete_contained_entities();
    DomainParticipantFactory::get_instance()->delete_participant(participant);
}

bool Type::is_loanable() const {
    return support->is_plain(DEFAULT_DATA_REPRESENTATION) &&
           message->memory_bytes() + ENCAPSULATION_BYTES <= support->max_serialized_type_size;
}

Session::Session(const perf_test_run &given) : run(given) {
    const char *way = perf_test_run_setting(&run, "transport"), *publishing = perf_test_run_setting(&run, "publishing");
    if (!parse_transport(way, &transport))
        throw std::runtime_error("Fast DDS has no transport " + std::string(way ? way : "without a name"));
    is_asynchronous = publishing && strcmp(publishing, "async") == 0;

    DomainParticipantFactory *factory = DomainParticipantFactory::get_instance();
    DomainParticipantQos qos = factory->get_default_participant_qos();
    configure(transport, run, qos);
    participant.reset(created(factory->create_participant(run.domain_id, qos), "a participant"));
    publisher = created(participant->create_publisher(PUBLISHER_QOS_DEFAULT), "a publisher");
    SubscriberQos of_readers = participant->get_default_subscriber_qos();
    of_readers.entity_factory().autoenable_created_entities = false;
    subscriber = created(participant->create_subscriber(of_readers), "a subscriber");
    publisher->set_default_datawriter_qos(writer_qos(run.qos, *type(run.message).message));
}

Type Session::type(const perf_test_message &message) {
    std::lock_guard<std::mutex> lock(names);
    std::string name = type_name(message, run.raw);
    Type type{MessageType::find(message, run.raw), participant->find_type(name)};
    if (!type.message) throw std::runtime_error("Fast DDS's types have no message " + std::string(message.name));
    if (!type.support.empty()) return type;
    TopicDataType *support = type.message->create_support();
    type.support.reset(run.phases ? new MarkedType(support) : support);
    type.support->set_name(name.c_str());
    if (type.support.register_type(participant.get()) != RETCODE_OK)
        throw std::runtime_error("Fast DDS does not accept the type " + name);
    return type;
}

Topic *Session::topic(const perf_test_endpoint &plan, bool publishes, const Type &type) {
    std::string name = topic_name(plan, publishes);
    std::lock_guard<std::mutex> lock(names);
    if (TopicDescription *known = participant->lookup_topicdescription(name)) return static_cast<Topic *>(known);
    return created(participant->create_topic(name, type.support.get_type_name(), TOPIC_QOS_DEFAULT), "a topic");
}

template <class Qos>
void Session::request(Qos &qos, const perf_test_qos &asked, const MessageType &message) const {
    bool is_reliable = asked.reliability == PERF_TEST_RELIABLE, keeps_all = asked.history == PERF_TEST_KEEP_ALL;
    qos.reliability().kind = is_reliable ? RELIABLE_RELIABILITY_QOS : BEST_EFFORT_RELIABILITY_QOS;
    qos.reliability().max_blocking_time = MAX_BLOCKING_TIME;
    qos.durability().kind =
        asked.durability == PERF_TEST_TRANSIENT_LOCAL ? TRANSIENT_LOCAL_DURABILITY_QOS : VOLATILE_DURABILITY_QOS;
    qos.history().kind = keeps_all ? KEEP_ALL_HISTORY_QOS : KEEP_LAST_HISTORY_QOS;
    if (!keeps_all) qos.history().depth = static_cast<int32_t>(asked.depth);
    auto &limits = qos.resource_limits();
    if (!keeps_all) limits.max_samples = std::max(limits.max_samples, qos.history().depth);
    else if (transport == Transport::DATA_SHARING)
        limits.max_samples = static_cast<int32_t>(std::clamp<uint64_t>(
            KEEP_ALL_POOL_BYTES / message.memory_bytes(), 1, static_cast<uint64_t>(limits.max_samples)));
    limits.max_samples_per_instance = limits.max_samples;
    limits.allocated_samples = std::min(limits.allocated_samples, limits.max_samples);
    configure(transport, qos.data_sharing());
}

DataWriterQos Session::writer_qos(const perf_test_qos &asked, const MessageType &message) const {
    DataWriterQos qos = publisher->get_default_datawriter_qos();
    request(qos, asked, message);
    qos.publish_mode().kind = is_asynchronous ? ASYNCHRONOUS_PUBLISH_MODE : SYNCHRONOUS_PUBLISH_MODE;
    return qos;
}

DataReaderQos Session::reader_qos(const perf_test_qos &asked, const MessageType &message) const {
    DataReaderQos qos = subscriber->get_default_datareader_qos();
    request(qos, asked, message);
    return qos;
}

void Session::effective(perf_test_effective *effective) const {
    DataWriterQos qos = publisher->get_default_datawriter_qos();
    bool keeps_all = qos.history().kind == KEEP_ALL_HISTORY_QOS;
    auto set = [effective](const char *name, const std::string &value) {
        perf_test_effective_set(effective, name, value.c_str());
    };
    set("transport", transport_in_effect(participant->get_qos(), qos));
    set("publishing", qos.publish_mode().kind == ASYNCHRONOUS_PUBLISH_MODE ? "async" : "sync");
    set("reliability", qos.reliability().kind == RELIABLE_RELIABILITY_QOS ? "RELIABLE" : "BEST_EFFORT");
    set("durability", qos.durability().kind == TRANSIENT_LOCAL_DURABILITY_QOS ? "TRANSIENT_LOCAL" : "VOLATILE");
    set("history", keeps_all ? "KEEP_ALL" : "KEEP_LAST");
    set("history-depth", keeps_all ? "all" : std::to_string(qos.history().depth));
    // These options are always in effect: an endpoint that cannot apply them is not created.
    for (const char *name : {"zero-copy", "raw", "wait"}) {
        for (size_t i = 0; i < run.option_count; i++) {
            if (strcmp(run.options[i].name, name) == 0) set(name, run.options[i].value);
        }
    }
}

bool Session::is_in_place(const void *loan) const {
    // With intra-process delivery, the endpoints of a process share one pool for a topic. The nodes of a topology may
    // be in several processes, so their loans are not counted as read in place.
    return (transport == Transport::INTRA_PROCESS && !run.executor) || is_in_data_sharing(loan);
}

bool Session::reaches_all_in_place(const void *loan) const {
    return (transport == Transport::DATA_SHARING || !run.executor) && is_in_place(loan);
}
