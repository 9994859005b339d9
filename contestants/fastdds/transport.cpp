#include "transport.hpp"

#include <fastdds/LibrarySettings.hpp>
#include <fastdds/dds/domain/DomainParticipantFactory.hpp>
#include <fastdds/rtps/attributes/BuiltinTransports.hpp>
#include <fastdds/rtps/transport/UDPv4TransportDescriptor.hpp>
#include <fastdds/rtps/transport/shared_mem/SharedMemTransportDescriptor.hpp>

#include <algorithm>

using eprosima::fastdds::INTRAPROCESS_FULL;
using eprosima::fastdds::INTRAPROCESS_OFF;
using eprosima::fastdds::LibrarySettings;
using eprosima::fastdds::dds::DataSharingKind;
using eprosima::fastdds::dds::DomainParticipantFactory;
using eprosima::fastdds::rtps::BuiltinTransports;
using eprosima::fastdds::rtps::SharedMemTransportDescriptor;
using eprosima::fastdds::rtps::UDPv4TransportDescriptor;

namespace {

// The size that the documentation advises for large data over UDP. The kernel limits it by net.core.rmem_max and
// wmem_max.
constexpr uint32_t SOCKET_BUFFER_BYTES = 16 << 20;
// The number of messages of each publisher that are in the segment at once: one is written, one is read, and the others
// wait.
constexpr uint64_t MESSAGES_IN_SEGMENT = 4;
// The room for the RTPS headers of a message.
constexpr uint64_t OVERHEAD_BYTES = 1024;
// The library's default sizes of a segment and a message; discovery needs room for them too.
constexpr uint64_t DEFAULT_SEGMENT_BYTES = 512 * 1024, DEFAULT_MESSAGE_BYTES = 65500;

std::shared_ptr<UDPv4TransportDescriptor> udp() {
    auto transport = std::make_shared<UDPv4TransportDescriptor>();
    transport->sendBufferSize = SOCKET_BUFFER_BYTES;
    transport->receiveBufferSize = SOCKET_BUFFER_BYTES;
    return transport;
}

// Creates a shared-memory transport that carries each message in one piece.
std::shared_ptr<SharedMemTransportDescriptor> shared_memory(const perf_test_run &run) {
    uint64_t message_bytes = std::max(DEFAULT_MESSAGE_BYTES, run.message.bytes + OVERHEAD_BYTES);
    uint64_t messages = MESSAGES_IN_SEGMENT * std::max(run.publishers, 1u);
    uint64_t segment_bytes = DEFAULT_SEGMENT_BYTES + messages * message_bytes;
    auto transport = std::make_shared<SharedMemTransportDescriptor>();
    transport->max_message_size(static_cast<uint32_t>(message_bytes));
    transport->segment_size(static_cast<uint32_t>(std::min<uint64_t>(segment_bytes, UINT32_MAX)));
    return transport;
}

// True if messages within a process are delivered directly.
bool is_direct(Transport transport) { return chooses_data_sharing(transport) || transport == Transport::INTRA_PROCESS; }

} // namespace

bool chooses_data_sharing(Transport transport) {
    return transport == Transport::LIBRARY_DEFAULT || transport == Transport::LARGE_DATA;
}

bool parse_transport(const char *name, Transport *transport) {
    for (int i = 0; name && TRANSPORT_NAMES[i]; i++) {
        if (strcmp(name, TRANSPORT_NAMES[i]) == 0) return *transport = static_cast<Transport>(i), true;
    }
    return false;
}

void configure(Transport transport, const perf_test_run &run, eprosima::fastdds::dds::DomainParticipantQos &qos) {
    LibrarySettings library;
    library.intraprocess_delivery = is_direct(transport) ? INTRAPROCESS_FULL : INTRAPROCESS_OFF;
    DomainParticipantFactory *factory = DomainParticipantFactory::get_instance();
    if (transport != Transport::LIBRARY_DEFAULT) factory->set_library_settings(library);
    if (transport == Transport::LARGE_DATA) qos.setup_transports(BuiltinTransports::LARGE_DATA);
    if (transport != Transport::UDP && transport != Transport::SHARED_MEMORY) return;
    qos.transport().use_builtin_transports = false;
    if (transport == Transport::UDP) qos.transport().user_transports.push_back(udp());
    else qos.transport().user_transports.push_back(shared_memory(run));
}

void configure(Transport transport, eprosima::fastdds::dds::DataSharingQosPolicy &data_sharing) {
    if (transport == Transport::DATA_SHARING) data_sharing.on("");
    else if (!chooses_data_sharing(transport)) data_sharing.off();
}

const char *transport_in_effect(const eprosima::fastdds::dds::DomainParticipantQos &participant,
                                const eprosima::fastdds::dds::DataWriterQos &writer) {
    LibrarySettings library;
    DomainParticipantFactory::get_instance()->get_library_settings(library);
    bool is_direct = library.intraprocess_delivery == INTRAPROCESS_FULL;
    DataSharingKind sharing = writer.data_sharing().kind();
    const auto &transports = participant.transport().user_transports;
    auto name = [](Transport transport) { return TRANSPORT_NAMES[static_cast<int>(transport)]; };
    if (participant.transport().use_builtin_transports && transports.empty()) {
        if (sharing == DataSharingKind::AUTO && is_direct) return name(Transport::LIBRARY_DEFAULT);
        if (sharing == DataSharingKind::ON && !is_direct) return name(Transport::DATA_SHARING);
        if (sharing == DataSharingKind::OFF && is_direct) return name(Transport::INTRA_PROCESS);
    } else if (transports.size() == 3 && sharing == DataSharingKind::AUTO && is_direct) {
        return name(Transport::LARGE_DATA); // UDP, TCP and shared memory
    } else if (transports.size() == 1 && sharing == DataSharingKind::OFF && !is_direct) {
        const auto *only = transports.front().get();
        if (dynamic_cast<const UDPv4TransportDescriptor *>(only)) return name(Transport::UDP);
        if (dynamic_cast<const SharedMemTransportDescriptor *>(only)) return name(Transport::SHARED_MEMORY);
    }
    return "unknown";
}
