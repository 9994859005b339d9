#include "stale_files.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <ctime>
#include <filesystem>
#include <fstream>
#include <optional>
#include <set>
#include <string>

namespace {

namespace fs = std::filesystem;

const std::string FOLDER = "/dev/shm/", TRANSPORT_PREFIX = "fastrtps_", SHARING_PREFIX = "fast_datasharing_";
// A file that is younger may belong to a process that has not mapped it yet.
constexpr time_t MIN_AGE_S = 1;

// The files of this user in the folder whose names begin so.
std::set<std::string> own_files(const std::string &prefix) {
    std::set<std::string> names;
    std::error_code error;
    for (fs::directory_iterator file(FOLDER, error), end; !error && file != end; file.increment(error)) {
        std::string name = file->path().filename();
        struct stat status;
        bool is_young = stat((FOLDER + name).c_str(), &status) != 0 || time(nullptr) - status.st_mtime < MIN_AGE_S;
        if (name.compare(0, prefix.size(), prefix) == 0 && !is_young && status.st_uid == geteuid()) names.insert(name);
    }
    return names;
}

// A lock that is held until the end of the block, or the absence of its file.
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

// The transport's segments and ports: their processes hold the lock of NAME_el or NAME_sl while they live.
void remove_unlocked() {
    for (const std::string &lock : own_files(TRANSPORT_PREFIX)) {
        std::string ending = lock.size() > 3 ? lock.substr(lock.size() - 3) : "";
        if (ending != "_el" && ending != "_sl") continue;
        std::string name = lock.substr(0, lock.size() - ending.size());
        Lock exclusive(FOLDER + name + "_el"), shared(FOLDER + name + "_sl");
        if (!exclusive.is_free || !shared.is_free) continue;
        for (const std::string &file : {name, "sem." + name + "_mutex", name + "_el", name + "_sl"})
            unlink((FOLDER + file).c_str());
    }
}

// The files of data sharing that a process maps; none if this user may not see the mappings of one of its processes.
std::optional<std::set<std::string>> mapped_files() {
    std::set<std::string> mapped;
    std::error_code error;
    for (fs::directory_iterator process("/proc", error), end; !error && process != end; process.increment(error)) {
        struct stat status;
        bool is_own = stat(process->path().c_str(), &status) == 0 && status.st_uid == geteuid();
        if (!is_own || !isdigit(process->path().filename().c_str()[0])) continue;
        std::ifstream mappings(process->path() / "maps");
        if (!mappings && fs::exists(process->path(), error)) return std::nullopt;
        for (std::string line; std::getline(mappings, line);) {
            size_t start = line.find(FOLDER + SHARING_PREFIX);
            if (start != std::string::npos) mapped.insert(line.substr(start + FOLDER.size()));
        }
    }
    return mapped;
}

// The segments of data sharing have no lock, but a publisher that lives has mapped its own.
void remove_unmapped() {
    std::set<std::string> files = own_files(SHARING_PREFIX);
    if (files.empty()) return;
    std::optional<std::set<std::string>> mapped = mapped_files();
    for (const std::string &file : files) {
        if (mapped && mapped->count(file) == 0) unlink((FOLDER + file).c_str());
    }
}

} // namespace

void remove_stale_files() {
    remove_unlocked();
    remove_unmapped();
}
