#include "endpoint.hpp"

#include <memory>
#include <new>

namespace {

// The largest message that is copied into the ring buffer instead of a slot: the default of gantry's
// PublisherOptions::max_inline_bytes.
constexpr uint64_t MAX_INLINE_BYTES = 256;

// The memory of an array.
class Buffer {
  public:
    // Opens the memory of an array; of None, an empty memory. Returns false if a Python exception is pending.
    bool open(PyObject *array, int flags) {
        close();
        is_open = array != Py_None && PyObject_GetBuffer(array, &view, flags) == 0;
        return is_open || array == Py_None;
    }
    void close() {
        if (is_open) PyBuffer_Release(&view);
        is_open = false;
    }
    ~Buffer() { close(); }
    void *bytes() const { return is_open ? view.buf : nullptr; }
    size_t size() const { return is_open ? static_cast<size_t>(view.len) : 0; }

  private:
    Py_buffer view{};
    bool is_open = false;
};

struct Endpoint {
    Session *session;
    const perf_test_endpoint *plan;
    Object self{};
    // The payload of the last message that was taken.
    Buffer taken{};
    uint8_t source[16] = {};
    bool loaned = false;
};

Endpoint &as_endpoint(void *endpoint) { return *static_cast<Endpoint *>(endpoint); }

bool read_gid(PyObject *gid, uint8_t source[16]) {
    if (!PyBytes_Check(gid) || PyBytes_GET_SIZE(gid) != 16) return false;
    memcpy(source, PyBytes_AS_STRING(gid), 16);
    return true;
}

void destroy(void *endpoint) {
    Lock lock;
    std::unique_ptr<Endpoint> self(static_cast<Endpoint *>(endpoint));
    if (self->self) Object done(PyObject_CallMethod(self->self.get(), "destroy", nullptr));
    PyErr_Clear();
}

// Creates an object of the class `type` of endpoints.py.
void *create(Session *session, const perf_test_run *run, const perf_test_endpoint *plan, const char *type,
             perf_test_error *error) {
    std::unique_ptr<Endpoint> endpoint(new (std::nothrow) Endpoint{session, plan});
    if (!endpoint) return perf_test_fail(error, "there is no memory"), nullptr;
    const perf_test_qos &qos = plan->qos;
    bool is_older = strcmp(plan->message.layout, "1.x") == 0;
    Lock lock;
    Object values(Py_BuildValue(
        "{s:s,s:O,s:s,s:I,s:I,s:s,s:s,s:s,s:s,s:s,s:I,s:I}", "topic", plan->topic, "zero_copy",
        run->zero_copy ? Py_True : Py_False, "kind", plan->kind == PERF_TEST_PUBLISHER ? "publisher" : "subscription",
        "index", plan->index, "domain_id", run->domain_id, "type_name", plan->message.type_name, "older_messages",
        is_older ? OLDER_MESSAGES : "", "reliability", qos.reliability == PERF_TEST_RELIABLE ? "RELIABLE" : "BEST_EFFORT",
        "durability", qos.durability == PERF_TEST_VOLATILE ? "VOLATILE" : "TRANSIENT_LOCAL", "history",
        qos.history == PERF_TEST_KEEP_LAST ? "KEEP_LAST" : "KEEP_ALL", "depth", qos.depth, "unbounded_bytes",
        plan->message.unbounded_bytes));
    if (values) endpoint->self = Object(PyObject_CallMethod(session->module.get(), type, "O", values.get()));
    if (!endpoint->self) {
        fail_with_exception(error, "the package gantry cannot create an endpoint");
        endpoint.reset(); // the destructor needs Python's lock, which `lock` holds
        return nullptr;
    }
    endpoint->loaned = run->zero_copy && plan->message.bytes > MAX_INLINE_BYTES;
    return endpoint.release();
}

int64_t matched(void *endpoint, perf_test_error *error) {
    Lock lock;
    Object count(PyObject_CallMethod(as_endpoint(endpoint).self.get(), "matched", nullptr));
    int64_t result = count ? PyLong_AsLongLong(count.get()) : -1;
    return result >= 0 ? result : fail_with_exception(error, "the package gantry cannot count the matched endpoints");
}

void mismatches(void *endpoint, perf_test_sentences *sentences) {
    Lock lock;
    Object list(PyObject_CallMethod(as_endpoint(endpoint).self.get(), "mismatches", nullptr));
    for (Py_ssize_t i = 0; list && PyList_Check(list.get()) && i < PyList_GET_SIZE(list.get()); i++) {
        const char *sentence = PyUnicode_AsUTF8(PyList_GET_ITEM(list.get(), i));
        if (sentence) perf_test_sentences_add(sentences, sentence);
    }
    PyErr_Clear();
}

// ---- Publishers ----

void *create_publisher(void *session, const perf_test_run *run, const perf_test_endpoint *plan, perf_test_error *error) {
    auto *self = static_cast<Endpoint *>(create(static_cast<Session *>(session), run, plan, "Publisher", error));
    if (!self) return nullptr;
    Lock lock;
    Object gid(PyObject_GetAttrString(self->self.get(), "gid"));
    if (!gid || !read_gid(gid.get(), self->source)) PyErr_Clear();
    return self;
}

bool source(void *publisher, uint8_t source[16]) {
    memcpy(source, as_endpoint(publisher).source, 16);
    return true;
}

int publish(void *publisher, perf_test_draft *draft, perf_test_sent *sent, perf_test_error *error) {
    constexpr const char *failure = "the package gantry did not publish a message";
    Endpoint &self = as_endpoint(publisher);
    Lock lock;
    PyObject *endpoint[] = {self.self.get()};
    {
        Object array(PyObject_VectorcallMethod(self.session->payload.get(), endpoint, 1, nullptr));
        Buffer payload;
        if (!array || !payload.open(array.get(), PyBUF_WRITABLE)) return fail_with_exception(error, failure);
        if (payload.bytes()) perf_test_draft_write(draft, payload.bytes(), payload.size());
    } // closes `payload` first: a loan cannot be published while an array refers to it
    perf_test_stamp stamp = perf_test_draft_stamp(draft);
    Object time_ns(PyLong_FromLongLong(stamp.time_ns));
    Object id(PyLong_FromUnsignedLongLong(stamp.id & self.plan->message.last_id));
    Object rate_hz(PyLong_FromUnsignedLong(stamp.rate_hz));
    if (!time_ns || !id || !rate_hz) return fail_with_exception(error, failure);
    PyObject *arguments[] = {endpoint[0], time_ns.get(), id.get(), rate_hz.get()};
    Object done(PyObject_VectorcallMethod(self.session->send.get(), arguments, 4, nullptr));
    if (!done) return fail_with_exception(error, failure);
    sent->loaned = self.loaned;
    return 0;
}

// ---- Subscriptions ----

void *create_subscription(void *session, const perf_test_run *run, const perf_test_endpoint *plan,
                          perf_test_error *error) {
    return create(static_cast<Session *>(session), run, plan, "Subscription", error);
}

int take(void *subscription, perf_test_taken *taken, perf_test_error *error) {
    constexpr const char *failure = "the package gantry did not take a message";
    Endpoint &self = as_endpoint(subscription);
    Lock lock;
    PyObject *endpoint[] = {self.self.get()};
    Object found(PyObject_VectorcallMethod(self.session->take.get(), endpoint, 1, nullptr));
    if (!found) return fail_with_exception(error, failure);
    if (found.get() == Py_None) return 0;
    PyObject *payload = nullptr, *gid = nullptr;
    long long time_ns = 0, received_ns = 0;
    unsigned long long id = 0, overwritten = 0, length_bytes = 0;
    if (!PyArg_ParseTuple(found.get(), "OLKLOKK", &payload, &time_ns, &id, &received_ns, &gid, &overwritten,
                          &length_bytes) ||
        !read_gid(gid, taken->source) || !self.taken.open(payload, PyBUF_SIMPLE))
        return fail_with_exception(error, failure);
    taken->time_ns = time_ns;
    taken->id = id;
    taken->received_ns = received_ns;
    taken->overwritten = overwritten;
    taken->length_bytes = length_bytes;
    taken->payload = self.taken.bytes();
    taken->payload_bytes = self.taken.size();
    taken->loaned = self.loaned;
    return 1;
}

// Releases the sample: the buffer refers to the array, and the array to the sample.
void release(void *subscription) {
    Lock lock;
    as_endpoint(subscription).taken.close();
}

int wait(void *subscription, int64_t timeout_ns, perf_test_error *error) {
    Endpoint &self = as_endpoint(subscription);
    Lock lock;
    Object timeout(PyFloat_FromDouble(static_cast<double>(timeout_ns) / 1e9));
    PyObject *arguments[] = {self.self.get(), timeout.get()};
    Object done(timeout ? PyObject_VectorcallMethod(self.session->wait.get(), arguments, 2, nullptr) : nullptr);
    return done ? 0 : fail_with_exception(error, "the package gantry cannot wait for messages");
}

uint64_t overwritten(void *subscription) {
    Lock lock;
    Object count(PyObject_CallMethod(as_endpoint(subscription).self.get(), "overwritten", nullptr));
    uint64_t result = count ? PyLong_AsUnsignedLongLongMask(count.get()) : 0;
    PyErr_Clear();
    return result;
}

} // namespace

const perf_test_publisher_functions PUBLISHER_FUNCTIONS = {
    {matched, mismatches, nullptr, destroy}, create_publisher, publish, source};
const perf_test_subscription_functions SUBSCRIPTION_FUNCTIONS = {
    {matched, mismatches, nullptr, destroy}, create_subscription, take, release, wait, nullptr, nullptr, overwritten};
