#include "endpoint.hpp"

#include <memory>
#include <new>

namespace {

// The first fields of a message. All machines for which eCAL has wheels are little-endian.
struct Head {
    int64_t time_ns;
    uint64_t id;
};

// Returns the number of endpoints to which eCAL has connected `endpoint`.
int64_t count(PyObject *endpoint, const char *function, perf_test_error *error) {
    Lock lock;
    Object number(PyObject_CallMethod(endpoint, function, nullptr));
    int64_t result = number ? PyLong_AsLongLong(number.get()) : -1;
    return result >= 0 ? result : fail_with_exception(error, "eCAL cannot count the connected endpoints");
}

// ---- Publishers ----

struct Publisher {
    Session *session;
    uint64_t last_id;
    uint64_t source = 0;
    Object port{};
    // The user's message. It is overwritten for each publication, which is safe in Python while there is no other
    // reference to it.
    Object message{};
};

void *create_publisher(void *session, const perf_test_run *, const perf_test_endpoint *plan,
                       perf_test_error *error) {
    auto *own = static_cast<Session *>(session);
    std::unique_ptr<Publisher> self(new (std::nothrow) Publisher{own, plan->message.last_id});
    if (!self) return perf_test_fail(error, "there is no memory"), nullptr;
    Lock lock;
    self->message = Object(PyBytes_FromStringAndSize(nullptr, static_cast<Py_ssize_t>(plan->message.bytes)));
    if (self->message) {
        memset(PyBytes_AS_STRING(self->message.get()), 0, plan->message.bytes);
        self->port = Object(PyObject_CallMethod(own->module.get(), "publisher", "ssOO", plan->topic,
                                                plan->message.type_name,
                                                own->zero_copy_mode ? Py_True : Py_False,
                                                plan->qos.reliability == PERF_TEST_RELIABLE ? Py_True : Py_False));
    }
    Object id(self->port ? PyObject_CallMethod(own->module.get(), "publisher_id", "O", self->port.get()) : nullptr);
    if (!id) {
        fail_with_exception(error, "eCAL cannot create a publisher");
        // The destructor drops Python objects, so it must run while `lock` is held.
        self.reset();
        return nullptr;
    }
    self->source = PyLong_AsUnsignedLongLongMask(id.get());
    return self.release();
}

int64_t publisher_matched(void *publisher, perf_test_error *error) {
    return count(static_cast<Publisher *>(publisher)->port.get(), "get_subscriber_count", error);
}

bool publisher_source(void *publisher, uint8_t source[16]) {
    memcpy(source, &static_cast<Publisher *>(publisher)->source, sizeof(uint64_t));
    return true;
}

int publish(void *publisher, perf_test_draft *draft, perf_test_sent *, perf_test_error *error) {
    auto &self = *static_cast<Publisher *>(publisher);
    char *bytes = PyBytes_AS_STRING(self.message.get());
    Py_ssize_t size = PyBytes_GET_SIZE(self.message.get());
    perf_test_draft_write(draft, bytes + sizeof(Head), static_cast<size_t>(size) - sizeof(Head));
    perf_test_stamp stamp = perf_test_draft_stamp(draft);
    Head head = {stamp.time_ns, stamp.id & self.last_id};
    memcpy(bytes, &head, sizeof head);
    Lock lock;
    PyObject *arguments[] = {self.port.get(), self.message.get()};
    Object is_sent(PyObject_VectorcallMethod(self.session->send.get(), arguments, 2, nullptr));
    if (!is_sent) return fail_with_exception(error, "eCAL cannot send");
    // eCAL's result is false while no subscription is connected. This is no error: perf_test counts the connections.
    return 0;
}

void destroy_publisher(void *publisher) {
    Lock lock;
    delete static_cast<Publisher *>(publisher);
}

// ---- Subscriptions ----

struct Subscription {
    Session *session;
    uint64_t bytes;
    perf_test_sink *sink = nullptr;
    Object port{};
};

// The callback of a subscription. eCAL calls it for each message on its own thread, with Python's lock (the GIL) held.
// The arguments are the publisher, the data type and the data.
PyObject *deliver(PyObject *capsule, PyObject *const *arguments, Py_ssize_t argument_count) {
    // Keeps Python's state of this thread until the thread ends, as `Lock` does: otherwise each call would create it.
    static thread_local const PyGILState_STATE kept = PyGILState_Ensure();
    (void)kept;
    auto *self = static_cast<Subscription *>(PyCapsule_GetPointer(capsule, nullptr));
    if (!self || argument_count != 3) Py_RETURN_NONE;
    Session &session = *self->session;
    perf_test_taken taken = {};
    if (session.run->phases) taken.in_hand_ns = perf_test_now_ns();
    Object message(PyObject_GetAttr(arguments[2], session.buffer.get())); // copies the message
    taken.received_ns = perf_test_now_ns();
    Object topic(PyObject_GetAttr(arguments[0], session.topic_id.get()));
    Object source(topic ? PyObject_GetAttr(topic.get(), session.entity_id.get()) : nullptr);
    if (!message || !source || !PyBytes_Check(message.get())) {
        PyErr_Clear();
        perf_test_sink_failed(self->sink, "eCAL has delivered a message that cannot be read");
        Py_RETURN_NONE;
    }
    const char *bytes = PyBytes_AS_STRING(message.get());
    auto size = static_cast<uint64_t>(PyBytes_GET_SIZE(message.get()));
    if (size != self->bytes || size < sizeof(Head)) {
        perf_test_sink_failed(self->sink, "eCAL has delivered a message of another size: another program publishes on "
                                          "the topic");
        Py_RETURN_NONE;
    }
    Head head;
    memcpy(&head, bytes, sizeof head);
    uint64_t id = PyLong_AsUnsignedLongLongMask(source.get());
    memcpy(taken.source, &id, sizeof id);
    taken.time_ns = head.time_ns;
    taken.id = head.id;
    taken.length_bytes = size;
    taken.payload = bytes + sizeof(Head);
    taken.payload_bytes = size - sizeof(Head);
    perf_test_sink_taken(self->sink, &taken);
    Py_RETURN_NONE;
}

PyMethodDef DELIVER = {"deliver", reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(deliver)), METH_FASTCALL,
                       nullptr};

void *create_subscription(void *session, const perf_test_run *, const perf_test_endpoint *plan,
                          perf_test_error *error) {
    auto *own = static_cast<Session *>(session);
    std::unique_ptr<Subscription> self(new (std::nothrow) Subscription{own, plan->message.bytes});
    if (!self) return perf_test_fail(error, "there is no memory"), nullptr;
    Lock lock;
    self->port = Object(PyObject_CallMethod(own->module.get(), "subscriber", "ss", plan->topic,
                                            plan->message.type_name));
    if (!self->port) return fail_with_exception(error, "eCAL cannot create a subscription"), nullptr;
    return self.release();
}

int64_t subscription_matched(void *subscription, perf_test_error *error) {
    return count(static_cast<Subscription *>(subscription)->port.get(), "get_publisher_count", error);
}

int set_callback(Subscription &self, const Object &callback, perf_test_error *error) {
    Object done(callback ? PyObject_CallMethod(self.port.get(), "set_receive_callback", "O", callback.get()) : nullptr);
    return done ? 0 : fail_with_exception(error, "eCAL cannot set the callback of a subscription");
}

int start(void *subscription, perf_test_sink *sink, perf_test_error *error) {
    auto &self = *static_cast<Subscription *>(subscription);
    self.sink = sink;
    Lock lock;
    Object capsule(PyCapsule_New(&self, nullptr, nullptr));
    return set_callback(self, Object(capsule ? PyCFunction_New(&DELIVER, capsule.get()) : nullptr), error);
}

// Replaces the callback by one that does nothing. Removing the callback would deadlock: the call holds Python's lock
// and waits for a running callback, which needs the lock. Replacing the callback does not wait.
int stop(void *subscription, perf_test_error *error) {
    auto &self = *static_cast<Subscription *>(subscription);
    Lock lock;
    return set_callback(self, Object(PyObject_GetAttrString(self.session->module.get(), "ignore")), error);
}

void destroy_subscription(void *subscription) {
    Lock lock;
    delete static_cast<Subscription *>(subscription);
}

} // namespace

const perf_test_publisher_functions PUBLISHER_FUNCTIONS = {
    {publisher_matched, nullptr, nullptr, destroy_publisher}, create_publisher, publish, publisher_source};
const perf_test_subscription_functions SUBSCRIPTION_FUNCTIONS = {
    {subscription_matched, nullptr, nullptr, destroy_subscription},
    create_subscription, nullptr, nullptr, nullptr, start, stop, nullptr};
