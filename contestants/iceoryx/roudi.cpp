#include "roudi.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <string>

#include <dirent.h>
#include <fcntl.h>
#include <grp.h>
#include <signal.h>
#include <sys/file.h>
#include <unistd.h>

namespace {

// iceoryx holds the lock of this file while RouDi runs, and keeps the sockets of all processes in the same folder.
constexpr const char *LOCK_FILE = "/tmp/iox-unique-roudi.lock";
constexpr const char *SOCKETS = "/tmp/";
// The memory of RouDi's own data. That of messages has the name of the user's group.
constexpr const char *MANAGEMENT_FILE = "/dev/shm/iceoryx_mgmt";

// A publisher holds its history, the message that it writes, and the last one that it sent.
constexpr uint64_t CHUNKS_OF_PUBLISHER = 2;
// A subscription holds its queue, the message that is read, and the one that is about to enter the queue.
constexpr uint64_t CHUNKS_OF_SUBSCRIPTION = 2;
// Those of endpoints of other programs.
constexpr uint64_t SPARE_CHUNKS = 16;

bool is_running() {
    int lock = open(LOCK_FILE, O_RDWR | O_CLOEXEC);
    if (lock < 0) return false;
    bool is_held = flock(lock, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK;
    close(lock);
    return is_held;
}

// The number of messages that the endpoints of the run hold at most.
uint64_t chunk_count(const perf_test_run *run) {
    uint64_t depth = run->qos.history == PERF_TEST_KEEP_ALL ? 256 : run->qos.depth;
    uint64_t topics = run->round_trip ? 2 : 1;
    uint64_t history = run->qos.durability == PERF_TEST_TRANSIENT_LOCAL ? depth : 0;
    uint64_t publishers = std::max<uint64_t>(run->publishers, 1) * (CHUNKS_OF_PUBLISHER + history);
    uint64_t subscriptions = std::max<uint64_t>(run->subscriptions, 1) * (CHUNKS_OF_SUBSCRIPTION + depth);
    return topics * (publishers + subscriptions) + SPARE_CHUNKS;
}

bool ends_with_dead_pid(const std::string &name) {
    std::string pid = name.substr(std::string(RUNTIME_PREFIX).size());
    long number = std::strtol(pid.c_str(), nullptr, 10);
    return number > 0 && kill(static_cast<pid_t>(number), 0) != 0 && errno == ESRCH;
}

} // namespace

void add_roudi(const perf_test_run *run, perf_test_daemons *daemons) {
    if (is_running()) return;
    // The size of a chunk is that of its message; RouDi adds the header. It is a multiple of 32.
    uint64_t bytes = (std::max<uint64_t>(run->message.bytes, 128) + 31) / 32 * 32;
    std::string config = "[general]\\nversion = 1\\n[[segment]]\\n[[segment.mempool]]\\nsize = " +
                         std::to_string(bytes) + "\\ncount = " + std::to_string(chunk_count(run)) + "\\n";
    // A pipe, so that no file is left.
    std::string script = "exec iox-roudi -c <(printf '" + config + "')";
    const char *command[] = {"bash", "-c", script.c_str(), nullptr};
    perf_test_daemon roudi = {"iox-roudi", command, nullptr, "RouDi is ready for clients"};
    perf_test_daemons_add(daemons, &roudi);
}

void remove_dead_files() {
    if (DIR *folder = opendir(SOCKETS)) {
        while (const dirent *entry = readdir(folder)) {
            std::string name = entry->d_name;
            if (name.rfind(RUNTIME_PREFIX, 0) == 0 && ends_with_dead_pid(name)) unlink((SOCKETS + name).c_str());
        }
        closedir(folder);
    }
    if (is_running() || unlink(MANAGEMENT_FILE) != 0) return;
    if (const group *own = getgrgid(getegid())) unlink((std::string("/dev/shm/") + own->gr_name).c_str());
}
