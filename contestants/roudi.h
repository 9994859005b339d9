/* RouDi, the daemon of iceoryx 2.95, and the files that RouDi and its clients leave when they are killed. This header
   is for C and C++. IOX_ROUDI is the path of the program. */
#ifndef ROUDI_H
#define ROUDI_H

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "perf_test_backend.h"

/* iceoryx holds the lock of this file while RouDi runs, and keeps the sockets of all processes in the same folder. */
#define ROUDI_LOCK_FILE "/tmp/iox1_0_i_unique_roudi.lock"
#define ROUDI_SOCKETS "/tmp"
#define ROUDI_SOCKET ROUDI_SOCKETS "/iox1_0_i_roudi"
/* The first part of the file names of clients' sockets; the name of the client follows. */
#define ROUDI_CLIENT_PREFIX "iox1_0_u_"
/* The file of RouDi's own data, and the first part of the file name for messages; the user's group follows. */
#define ROUDI_MANAGEMENT_FILE "/dev/shm/iox1_0_i_management"
#define ROUDI_MESSAGES_PREFIX "/dev/shm/iox1_0_u_"

static inline bool roudi_is_running(void) {
    int lock = open(ROUDI_LOCK_FILE, O_RDONLY | O_CLOEXEC);
    if (lock < 0) return false;
    bool is_held = flock(lock, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK;
    close(lock);
    return is_held;
}

/* Returns the pid of a program with RouDi's usual name; 0 if there is none. */
static inline long roudi_pid(void) {
    long pid = 0;
    DIR *processes = opendir("/proc");
    const struct dirent *entry;
    while (processes && !pid && (entry = readdir(processes))) {
        char path[300], name[16] = "";
        if (!isdigit((unsigned char)entry->d_name[0])) continue;
        snprintf(path, sizeof path, "/proc/%s/comm", entry->d_name);
        FILE *file = fopen(path, "r");
        if (file && fgets(name, sizeof name, file) && strcmp(name, "iox-roudi\n") == 0)
            pid = strtol(entry->d_name, NULL, 10);
        if (file) fclose(file);
    }
    if (processes) closedir(processes);
    return pid;
}

/* Returns 1 if the run must start RouDi. Returns 0 if the run has only publishers or only subscriptions, because the
   RouDi of the program with the other endpoints serves it. Returns -1 if a foreign RouDi runs: the run could not report
   its CPU time and memory. */
static inline int roudi_needed(const perf_test_run *run, perf_test_error *error) {
    if (!roudi_is_running()) return 1;
    if (run->publishers == 0 || run->subscriptions == 0) return 0;
    long pid = roudi_pid();
    char process[32] = "of another program";
    if (pid) snprintf(process, sizeof process, "pid %ld", pid);
    return perf_test_fail(error, "a RouDi runs (%s) that does not belong to this run: end it first", process);
}

/* Whether the process that received at this socket has ended. */
static inline bool roudi_socket_is_dead(const char *name) {
    struct sockaddr_un address;
    memset(&address, 0, sizeof address);
    address.sun_family = AF_UNIX;
    if (snprintf(address.sun_path, sizeof address.sun_path, "%s/%s", ROUDI_SOCKETS, name)
        >= (int)sizeof address.sun_path)
        return false;
    int sender = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (sender < 0) return false;
    bool is_dead = connect(sender, (const struct sockaddr *)&address, sizeof address) != 0 && errno == ECONNREFUSED;
    close(sender);
    return is_dead;
}

/* Removes the sockets and locks of dead clients, and the files of RouDi if RouDi is dead. */
static inline void roudi_clean_up(void) {
    DIR *folder = opendir(ROUDI_SOCKETS);
    const struct dirent *entry;
    while (folder && (entry = readdir(folder))) {
        bool is_client = strncmp(entry->d_name, ROUDI_CLIENT_PREFIX, strlen(ROUDI_CLIENT_PREFIX)) == 0;
        if (!is_client || entry->d_type != DT_SOCK || !roudi_socket_is_dead(entry->d_name)) continue;
        char lock[sizeof entry->d_name + sizeof ".lock"];
        snprintf(lock, sizeof lock, "%s.lock", entry->d_name);
        unlinkat(dirfd(folder), entry->d_name, 0);
        unlinkat(dirfd(folder), lock, 0);
    }
    if (folder) closedir(folder);
    if (roudi_is_running() || unlink(ROUDI_MANAGEMENT_FILE) != 0) return;
    const struct group *own = getgrgid(getegid());
    char messages[300];
    if (!own) return;
    snprintf(messages, sizeof messages, "%s%s", ROUDI_MESSAGES_PREFIX, own->gr_name);
    unlink(messages);
}

#endif
