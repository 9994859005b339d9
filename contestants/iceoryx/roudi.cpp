#include "roudi.hpp"

#include <algorithm>
#include <string>

#include "../roudi.h"

namespace {

// The chunks that a publisher holds in addition to its history: the message that it writes, and the last one that it
// sent.
constexpr uint64_t CHUNKS_OF_PUBLISHER = 2;
// The chunks that a subscription holds in addition to its queue: the message that is read, and the one that is about to
// enter the queue.
constexpr uint64_t CHUNKS_OF_SUBSCRIPTION = 2;

// Returns the number of messages that the endpoints of the run hold at most.
uint64_t chunk_count(const perf_test_run *run) {
    uint64_t depth = run->qos.history == PERF_TEST_KEEP_ALL ? 256 : run->qos.depth;
    uint64_t topics = run->round_trip ? 2 : 1;
    uint64_t history = run->qos.durability == PERF_TEST_TRANSIENT_LOCAL ? depth : 0;
    uint64_t publishers = std::max<uint64_t>(run->publishers, 1) * (CHUNKS_OF_PUBLISHER + history);
    uint64_t subscriptions = std::max<uint64_t>(run->subscriptions, 1) * (CHUNKS_OF_SUBSCRIPTION + depth);
    return topics * (publishers + subscriptions);
}

} // namespace

int add_roudi(const perf_test_run *run, perf_test_daemons *daemons, perf_test_error *error) {
    int needed = roudi_needed(run, error);
    if (needed <= 0) return needed;
    // The size of a chunk in the configuration: the size of the message, rounded up to a multiple of 32. RouDi adds the
    // header.
    uint64_t bytes = (std::max<uint64_t>(run->message.bytes, 128) + 31) / 32 * 32;
    std::string config = "[general]\\nversion = 1\\n[[segment]]\\n[[segment.mempool]]\\nsize = " +
                         std::to_string(bytes) + "\\ncount = " + std::to_string(chunk_count(run)) + "\\n";
    // The configuration comes through a pipe, so that no file is left.
    std::string script = "exec " IOX_ROUDI " --log-level warning -c <(printf '" + config + "')";
    const char *command[] = {"bash", "-c", script.c_str(), nullptr};
    perf_test_daemon roudi = {"iox-roudi", command, ROUDI_SOCKET, nullptr};
    perf_test_daemons_add(daemons, &roudi);
    return 0;
}
