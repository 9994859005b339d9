#include "session.h"

#include <stdlib.h>

#include "../roudi.h"
#include "message.h"

/* The first value of each setting is the default of Cyclone DDS. */
const perf_test_setting SETTINGS[] = {
    {.name = "shared-memory",
     .values = (const char *const[]){"off", "on", NULL},
     .best = "on",
     .meaning = "messages between processes go through the loopback interface, or through iceoryx with its daemon, where "
                "RELIABLE has no effect: a full queue drops its oldest message"},
    {.name = "tuning",
     .values = (const char *const[]){"default", "documented", NULL},
     .best = "documented",
     .meaning = "documented: MaxMessageSize 65500 B, and receive buffers of 10 MB as far as the kernel allows"},
};

/* A reader may hold 256 chunks of iceoryx: its history, the message that is being read and the next one. The iceoryx
   plug-in drops every further message without a report. */
enum { SHARED_DEPTH_MAX = 254 };
/* Spare chunks for messages that are being handed over. */
enum { SPARE_CHUNKS = 4 };
/* The maximum size of all chunks of a run. */
static const uint64_t CHUNKS_BYTES = (uint64_t)1 << 30;
/* Space in a chunk for the headers of iceoryx and of Cyclone DDS, and for the padding of a struct. */
enum { CHUNK_HEADER_BYTES = 320, CHUNK_ALIGNMENT = 64 };

static bool is_set(const perf_test_run *run, const char *name, const char *value) {
    const char *found = perf_test_run_setting(run, name);
    return found && strcmp(found, value) == 0;
}

/* Returns the command that starts RouDi with memory for the messages of this run only, as the documentation of
   Cyclone DDS advises. */
static const char *roudi_command(const perf_test_run *run) {
    static char command[1024];
    uint64_t bytes = run->message.bytes + sizeof(struct call) + CHUNK_HEADER_BYTES;
    uint64_t chunk_bytes = bytes / CHUNK_ALIGNMENT * CHUNK_ALIGNMENT;
    uint64_t depth = run->qos.depth;
    uint64_t publishers = run->publishers ? run->publishers : 1;
    /* Each publisher holds 2 chunks: the message that it writes and the last one. Each subscription holds 2 samples,
       the one being read and the next, and its history: a late reader holds messages that all others have released.
       One queue of iceoryx is shared by all. */
    uint64_t subscriptions = run->subscriptions;
    uint64_t count = 2 * publishers + 2 * subscriptions + (1 + subscriptions) * depth + SPARE_CHUNKS;
    if (run->round_trip) count *= 2;
    if (run->executor) count += publishers * depth; /* each has its own topic, whose readers hold other messages */
    uint64_t most = CHUNKS_BYTES / chunk_bytes;
    if (count > most) count = most;
    snprintf(command, sizeof command,
             "exec " IOX_ROUDI " --log-level warning --config-file <(printf '[general]\\nversion = 1\\n[[segment]]\\n"
             "[[segment.mempool]]\\nsize = %llu\\ncount = %llu\\n')",
             (unsigned long long)chunk_bytes, (unsigned long long)count);
    return command;
}

int check_shared_qos(const perf_test_qos *qos, perf_test_error *error) {
    if (qos->durability == PERF_TEST_TRANSIENT_LOCAL)
        return perf_test_fail(error, "Cyclone DDS gives late readers no history in shared memory: add --set "
                                     "shared-memory=off, or --durability VOLATILE");
    if (qos->history == PERF_TEST_KEEP_ALL || qos->depth > SHARED_DEPTH_MAX)
        return perf_test_fail(error,
                              "Cyclone DDS keeps at most %d messages of a reader in shared memory: give --history "
                              "KEEP_LAST and a smaller --history-depth, or --set shared-memory=off",
                              SHARED_DEPTH_MAX);
    return 0;
}

int check_run(const perf_test_run *run, perf_test_daemons *daemons, perf_test_error *error) {
    bool shares_memory = is_set(run, "shared-memory", "on");
    if (!form_of(&run->message, run->raw, false).type)
        return perf_test_fail(error, "Cyclone DDS was built without %s of the %s layout: build it again",
                              run->message.name, run->message.layout);
    if (run->zero_copy && !shares_memory)
        return perf_test_fail(error, "Cyclone DDS loans messages only in shared memory: add --set shared-memory=on");
    if (run->zero_copy && run->raw)
        return perf_test_fail(error, "Cyclone DDS loans no messages without a type: leave out --raw or --zero-copy");
    if (!shares_memory) return 0;
    if (check_shared_qos(&run->qos, error) != 0) return -1;
    int needed = roudi_needed(run, error);
    if (needed <= 0) return needed;
    const char *const command[] = {"bash", "-c", roudi_command(run), NULL};
    perf_test_daemons_add(daemons, &(perf_test_daemon){"iox-roudi", command, .ready_file = ROUDI_SOCKET});
    return 0;
}

int clean_up(const perf_test_run *run, perf_test_error *error) {
    (void)error;
    if (is_set(run, "shared-memory", "on")) roudi_clean_up();
    return 0;
}

/* Writes the configuration, which has only the loopback interface. This interface may not support multicast, so
   participants look for each other at known ports. A domain has ports for 120 participants. */
static void write_configuration(const perf_test_run *run, char *text, size_t bytes) {
    bool is_tuned = is_set(run, "tuning", "documented"), shares_memory = is_set(run, "shared-memory", "on");
    snprintf(text, bytes,
             "<CycloneDDS><Domain Id=\"any\">"
             "<General><Interfaces><NetworkInterface name=\"lo\"/>%s</Interfaces>"
             "<AllowMulticast>false</AllowMulticast>%s</General>"
             "<Discovery><ParticipantIndex>auto</ParticipantIndex>"
             "<MaxAutoParticipantIndex>119</MaxAutoParticipantIndex>"
             "<Peers><Peer Address=\"127.0.0.1\"/></Peers></Discovery>%s"
             "</Domain></CycloneDDS>",
             shares_memory ? "<PubSubMessageExchange type=\"iox\" config=\"LOG_LEVEL=WARN;\"/>" : "",
             is_tuned ? "<MaxMessageSize>65500B</MaxMessageSize>" : "",
             is_tuned ? "<Internal><SocketReceiveBufferSize max=\"10MB\"/></Internal>" : "");
}

/* Refuses a setting that is unknown or has an unknown value. */
static int check_settings(const perf_test_run *run, perf_test_error *error) {
    for (size_t i = 0; i < run->setting_count; i++) {
        const perf_test_name_value *given = &run->settings[i];
        bool is_known = false;
        for (size_t k = 0; k < SETTING_COUNT; k++) {
            const char *const *value = SETTINGS[k].values;
            while (*value && strcmp(*value, given->value) != 0) value++;
            is_known |= strcmp(SETTINGS[k].name, given->name) == 0 && *value;
        }
        if (!is_known)
            return perf_test_fail(error, "Cyclone DDS has no setting %s=%s: see `perf_test list`", given->name,
                                  given->value);
    }
    return 0;
}

void *open_session(const perf_test_run *run, perf_test_error *error) {
    if (check_settings(run, error) != 0) return NULL;
    char configuration[1024];
    write_configuration(run, configuration, sizeof configuration);
    dds_entity_t domain = dds_create_domain(run->domain_id, configuration);
    if (domain < 0) {
        perf_test_fail(error,
                       "Cyclone DDS cannot open the domain %u: %s. The messages of Cyclone DDS are on standard error",
                       run->domain_id, dds_strretcode(domain));
        return NULL;
    }
    dds_entity_t participant = dds_create_participant(run->domain_id, NULL, NULL);
    struct session *session = participant < 0 ? NULL : malloc(sizeof *session);
    if (!session) {
        perf_test_fail(error, "Cyclone DDS cannot create a participant: %s", dds_strretcode(participant));
        dds_delete(domain);
        return NULL;
    }
    *session = (struct session){run, domain, participant, is_set(run, "shared-memory", "on")};
    return session;
}

void close_session(void *session) {
    dds_delete(((struct session *)session)->domain);
    free(session);
}

/* All settings and options are in effect: open_session has checked the settings, and each endpoint has compared its
   QoS with dds_get_qos. */
void effective_options(void *session, perf_test_effective *effective) {
    const perf_test_run *run = ((struct session *)session)->run;
    for (size_t i = 0; i < run->setting_count; i++)
        perf_test_effective_set(effective, run->settings[i].name, run->settings[i].value);
    for (size_t i = 0; i < run->option_count; i++)
        perf_test_effective_set(effective, run->options[i].name, run->options[i].value);
}
