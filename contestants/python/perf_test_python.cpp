// The back end of Gantry's Python package: the measuring loops call endpoints.py, which uses the package as a user's
// program does. A latency includes the interpreter: it lasts from the stamp until Python has read time and id.
#include <memory>
#include <new>

#include "endpoint.hpp"

namespace {

constexpr const char *TRANSPORT = "transport";
constexpr const char *SHARED_MEMORY = "shared-memory";

bool initialize(Session &session) {
    Object folder(PyUnicode_FromString(PACKAGES));
    PyObject *path = PySys_GetObject("path");
    if (!folder || !path || PyList_Insert(path, 0, folder.get()) != 0) return false;
    session.module = Object(PyImport_ImportModule("perf_test_python_endpoints"));
    if (!session.module) return false;
    Object done(PyObject_CallMethod(session.module.get(), "initialize", nullptr));
    session.payload = Object(PyUnicode_InternFromString("payload"));
    session.send = Object(PyUnicode_InternFromString("send"));
    session.take = Object(PyUnicode_InternFromString("take"));
    session.wait = Object(PyUnicode_InternFromString("wait"));
    return done && session.payload && session.send && session.take && session.wait;
}

void *open_session(const perf_test_run *run, perf_test_error *error) {
    std::unique_ptr<Session> session(new (std::nothrow) Session);
    if (!session) return perf_test_fail(error, "there is no memory"), nullptr;
    session->run = run;
    Py_InitializeEx(0); // 0: Python installs no signal handlers, because perf_test handles signals
    if (!initialize(*session)) {
        fail_with_exception(error, "Python cannot start; build it again by tools/contestants python");
        session.reset();
    }
    PyEval_SaveThread();
    return session.release();
}

void close_session(void *session) {
    Lock lock;
    delete static_cast<Session *>(session);
}

int clean_up(const perf_test_run *run, perf_test_error *error) {
    void *opened = open_session(run, error);
    if (!opened) return -1;
    Lock lock;
    auto *session = static_cast<Session *>(opened);
    Object done(PyObject_CallMethod(session->module.get(), "clean_up", "I", run->domain_id));
    int result = done ? 0 : fail_with_exception(error, "the files of dead processes cannot be removed");
    delete session;
    return result;
}

void effective(void *session, perf_test_effective *effective) {
    const perf_test_run *run = static_cast<const Session *>(session)->run;
    perf_test_effective_set(effective, TRANSPORT, SHARED_MEMORY);
    for (size_t i = 0; i < run->option_count; i++)
        perf_test_effective_set(effective, run->options[i].name, run->options[i].value);
}

} // namespace

int main(int argc, char **argv) {
    static const char *const transports[] = {SHARED_MEMORY, nullptr};
    static const perf_test_setting settings[] = {{TRANSPORT, transports, nullptr, "messages go through shared memory"}};
    static perf_test_backend backend = {};
    backend.version = PERF_TEST_BACKEND_VERSION;
    backend.name = "python";
    backend.middleware_version = VERSION;
    perf_test_capabilities &can = backend.capabilities;
    can.zero_copy = PERF_TEST_PLAIN | PERF_TEST_FIELDS | PERF_TEST_BOUNDED_SEQUENCE | PERF_TEST_SEQUENCE;
    can.reliability = PERF_TEST_RELIABLE | PERF_TEST_BEST_EFFORT;
    can.durability = PERF_TEST_TRANSIENT_LOCAL | PERF_TEST_VOLATILE;
    can.history = PERF_TEST_KEEP_LAST | PERF_TEST_KEEP_ALL;
    can.wait = PERF_TEST_SPIN | PERF_TEST_ADAPTIVE;
    can.delivery = PERF_TEST_PULL;
    can.matching = PERF_TEST_MATCHING_COUNT;
    can.copies = can.sources = true;
    backend.settings = settings;
    backend.setting_count = sizeof settings / sizeof *settings;
    backend.clean_up = clean_up;
    backend.open = open_session;
    backend.close = close_session;
    backend.effective = effective;
    backend.publisher = PUBLISHER_FUNCTIONS;
    backend.subscription = SUBSCRIPTION_FUNCTIONS;
    return perf_test_worker_main(argc, argv, &backend);
}
