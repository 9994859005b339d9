// The back end of Eclipse eCAL by its Python module. The measuring loops call the module from C++, so no Python code
// runs for a message.
#include <exception>
#include <memory>
#include <new>

#include <unistd.h>

#include "endpoint.hpp"
#include "files.hpp"

namespace {

constexpr const char *TRANSPORT = "transport";
constexpr const char *SHARED_MEMORY = "shared-memory";
constexpr const char *ZERO_COPY_MODE = "zero-copy-mode";

int check(const perf_test_run *run, perf_test_daemons *, perf_test_error *error) {
    bool is_constant = run->message.content == PERF_TEST_PLAIN || run->message.content == PERF_TEST_BOUNDED_SEQUENCE;
    if (!is_constant && !run->raw) return perf_test_fail(error, "eCAL has no types of variable size: add --raw");
    if (run->message.bytes < 16)
        return perf_test_fail(error, "eCAL's messages have at least 16 bytes, time and id: give another -m than %s",
                              run->message.name);
    return 0;
}

int clean_up(const perf_test_run *, perf_test_error *error) {
    try {
        return remove_dead_files(), 0;
    } catch (const std::exception &failure) {
        return perf_test_fail(error, "eCAL's memory files cannot be removed from /dev/shm: %s", failure.what());
    }
}

bool initialize(Session &session) {
    Object folder(PyUnicode_FromString(ECAL_FOLDER));
    PyObject *path = PySys_GetObject("path");
    if (!folder || !path || PyList_Insert(path, 0, folder.get()) != 0) return false;
    session.module = Object(PyImport_ImportModule("perf_test_ecal_endpoints"));
    if (!session.module) return false;
    char name[32];
    snprintf(name, sizeof name, "perf_test_%d", int(getpid()));
    Object done(PyObject_CallMethod(session.module.get(), "initialize", "s", name));
    session.send = Object(PyUnicode_InternFromString("send"));
    session.buffer = Object(PyUnicode_InternFromString("buffer"));
    session.topic_id = Object(PyUnicode_InternFromString("topic_id"));
    session.entity_id = Object(PyUnicode_InternFromString("entity_id"));
    return done && session.send && session.buffer && session.topic_id && session.entity_id;
}

void *open_session(const perf_test_run *run, perf_test_error *error) {
    std::unique_ptr<Session> session(new (std::nothrow) Session);
    if (!session) return perf_test_fail(error, "there is no memory"), nullptr;
    session->run = run;
    const char *zero_copy_mode = perf_test_run_setting(run, ZERO_COPY_MODE);
    session->zero_copy_mode = zero_copy_mode && strcmp(zero_copy_mode, "on") == 0;
    Py_InitializeEx(0); // 0: Python installs no signal handlers, because perf_test handles signals
    if (!initialize(*session)) {
        fail_with_exception(error, "eCAL cannot start; build it again by tools/contestants ecal");
        session.reset();
    }
    PyEval_SaveThread();
    return session.release();
}

void close_session(void *session) {
    Lock lock;
    auto *own = static_cast<Session *>(session);
    Object done(PyObject_CallMethod(own->module.get(), "finalize", nullptr));
    PyErr_Clear();
    delete own;
}

void effective(void *session, perf_test_effective *effective) {
    const auto *own = static_cast<const Session *>(session);
    perf_test_effective_set(effective, TRANSPORT, SHARED_MEMORY);
    perf_test_effective_set(effective, ZERO_COPY_MODE, own->zero_copy_mode ? "on" : "off");
    for (size_t i = 0; i < own->run->option_count; i++)
        perf_test_effective_set(effective, own->run->options[i].name, own->run->options[i].value);
}

} // namespace

int main(int argc, char **argv) {
    static const char *const transports[] = {SHARED_MEMORY, nullptr};
    static const char *const modes[] = {"off", "on", nullptr};
    static const perf_test_setting settings[] = {
        {TRANSPORT, transports, nullptr, "messages go through one memory file of each publisher; with RELIABLE it waits up to 1 s until each subscription "
         "has processed a message"},
        {ZERO_COPY_MODE, modes, nullptr,
         "off: a subscription copies each message before its callback; on: its callback reads the memory file"},
    };
    static perf_test_backend backend = {};
    backend.version = PERF_TEST_BACKEND_VERSION;
    backend.name = "ecal";
    backend.middleware_version = ECAL_VERSION " by its Python module";
    perf_test_capabilities &can = backend.capabilities;
    can.reliability = PERF_TEST_RELIABLE | PERF_TEST_BEST_EFFORT;
    can.durability = PERF_TEST_VOLATILE;
    can.history = PERF_TEST_KEEP_LAST;
    can.wait = PERF_TEST_ADAPTIVE;
    can.delivery = PERF_TEST_PUSH;
    can.matching = PERF_TEST_MATCHING_COUNT;
    can.copies = can.sources = can.raw = can.phases = true;
    backend.settings = settings;
    backend.setting_count = sizeof settings / sizeof *settings;
    backend.check = check;
    backend.clean_up = clean_up;
    backend.open = open_session;
    backend.close = close_session;
    backend.effective = effective;
    backend.publisher = PUBLISHER_FUNCTIONS;
    backend.subscription = SUBSCRIPTION_FUNCTIONS;
    return perf_test_worker_main(argc, argv, &backend);
}
