#include "stale_files.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cctype>
#include <cerrno>
#include <cstdint>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <string>

namespace {

namespace fs = std::filesystem;

const std::string FOLDER = "/dev/shm/", SEMAPHORE_PREFIX = "sem.";
// The prefixes of the files of the shared-memory transport (segments and ports) and of data sharing.
const std::string PREFIXES[] = {"fastdds_", "fast_datasharing_"};
// The age from which a file may be removed. A younger file may belong to a process that has not locked or mapped it
// yet.
constexpr int64_t MIN_AGE_NS = 100000000;

bool starts_with(const std::string &text, const std::string &start) {
    return text.compare(0, start.size(), start) == 0;
}

// Removes `ending` from the end of a text. Returns false if the text has another ending.
bool strip(std::string &text, const std::string &ending) {
    bool is_there = text.size() >= ending.size() && text.substr(text.size() - ending.size()) == ending;
    if (is_there) text.resize(text.size() - ending.size());
    return is_there;
}

// Returns the name of the segment or port to which a file belongs; empty if the file belongs to neither.
std::string base_name(std::string name) {
    if (starts_with(name, SEMAPHORE_PREFIX)) {
        name.erase(0, SEMAPHORE_PREFIX.size());
        strip(name, "_mutex");
    } else if (!strip(name, "_el")) {
        strip(name, "_sl");
    }
    for (const std::string &prefix : PREFIXES) {
        if (starts_with(name, prefix)) return name;
    }
    return "";
}

int64_t age_ns(const struct stat &status) {
    timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    return (now.tv_sec - status.st_ctim.tv_sec) * INT64_C(1000000000) + now.tv_nsec - status.st_ctim.tv_nsec;
}

// The files of this user in the folder, with the segments or ports to which they belong.
std::map<std::string, std::string> own_files() {
    std::map<std::string, std::string> files;
    std::error_code error;
    for (fs::directory_iterator file(FOLDER, error), end; !error && file != end; file.increment(error)) {
        std::string name = file->path().filename(), base = base_name(name);
        struct stat status;
        bool is_own = !base.empty() && stat(file->path().c_str(), &status) == 0 && status.st_uid == geteuid();
        if (is_own && age_ns(status) > MIN_AGE_NS) files[name] = base;
    }
    return files;
}

// A try-lock on a lock file, held until the end of the block. A missing lock file counts as locked by no other process.
class Lock {
public:
    explicit Lock(const std::string &path) : file(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW)) {
        is_free = file < 0 ? errno == ENOENT : flock(file, LOCK_EX | LOCK_NB) == 0;
    }
    ~Lock() {
        if (file >= 0) close(file);
    }
    Lock(const Lock &) = delete;

    bool is_free;

private:
    int file;
};

// Returns the segments and ports that a process of this user maps. The mappings of a process with more privileges, such
// as init in a container, cannot be read.
std::set<std::string> mapped() {
    std::set<std::string> names;
    std::error_code error;
    for (fs::directory_iterator process("/proc", error), end; !error && process != end; process.increment(error)) {
        struct stat status;
        bool is_own = stat(process->path().c_str(), &status) == 0 && status.st_uid == geteuid();
        if (!is_own || !isdigit(process->path().filename().c_str()[0])) continue;
        std::ifstream mappings(process->path() / "maps");
        for (std::string line; std::getline(mappings, line);) {
            size_t start = line.find(FOLDER);
            if (start != std::string::npos) names.insert(base_name(line.substr(start + FOLDER.size())));
        }
    }
    return names;
}

} // namespace

void remove_stale_files() {
    std::map<std::string, std::string> files = own_files();
    if (files.empty()) return;
    std::set<std::string> used = mapped();
    for (const auto &[file, base] : files) {
        if (used.count(base) > 0) continue;
        // A living process that uses the segment or port holds one of these locks.
        Lock exclusive(FOLDER + base + "_el"), shared(FOLDER + base + "_sl");
        if (exclusive.is_free && shared.is_free) unlink((FOLDER + file).c_str());
    }
}
