#include "files.hpp"

#include <filesystem>
#include <fstream>
#include <set>
#include <string>

#include <sys/stat.h>
#include <unistd.h>

namespace {

namespace fs = std::filesystem;

constexpr const char *FOLDER = "/dev/shm/";
constexpr const char *PREFIX = "/dev/shm/ecal_";

// Returns the path of the memory file to which a file belongs: the mutex ecal_1a2b_mtx belongs to ecal_1a2b. The result
// is empty if `path` is no file of eCAL.
std::string memory_file(const std::string &path) {
    size_t begin = path.find(PREFIX);
    if (begin == std::string::npos) return "";
    size_t number = begin + std::char_traits<char>::length(PREFIX);
    size_t end = path.find_first_not_of("0123456789abcdef", number);
    return end == number ? "" : path.substr(begin, end == std::string::npos ? end : end - begin);
}

// Returns the memory files in use: a process has mapped the file itself, or its mutex or events.
std::set<std::string> mapped_files() {
    std::set<std::string> mapped;
    std::error_code ignored;
    for (const auto &process : fs::directory_iterator("/proc", ignored)) {
        std::ifstream maps(process.path() / "maps");
        for (std::string line; std::getline(maps, line);) {
            std::string file = memory_file(line);
            if (!file.empty()) mapped.insert(file);
        }
    }
    return mapped;
}

} // namespace

void remove_dead_files() {
    std::set<std::string> mapped = mapped_files();
    std::error_code ignored;
    for (const auto &entry : fs::directory_iterator(FOLDER, ignored)) {
        std::string path = entry.path(), file = memory_file(path);
        struct stat status;
        bool is_own = lstat(path.c_str(), &status) == 0 && status.st_uid == geteuid();
        if (is_own && !file.empty() && mapped.count(file) == 0) unlink(path.c_str());
    }
}
