// Python's objects, Python's lock (the GIL) and its exceptions. The functions of a back end leave no Python exception
// pending.
#pragma once

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include <utility>

#include "perf_test_backend.h"

// A reference to a Python object; empty after an error. It must be created, used and dropped while the thread holds
// Python's lock.
class Object {
  public:
    Object() = default;
    explicit Object(PyObject *owned) : object(owned) {}
    Object(Object &&other) noexcept : object(other.object) { other.object = nullptr; }
    Object &operator=(Object &&other) noexcept {
        std::swap(object, other.object);
        return *this;
    }
    ~Object() { Py_XDECREF(object); }
    PyObject *get() const { return object; }
    explicit operator bool() const { return object; }

  private:
    PyObject *object = nullptr;
};

// Takes Python's lock on a thread that does not hold it. The first lock of a thread also keeps the thread's Python
// state until the process ends; otherwise Python would create the state for each message.
class Lock {
  public:
    Lock() {
        static thread_local const bool is_kept = (PyGILState_Ensure(), PyEval_SaveThread(), true);
        (void)is_kept;
        state = PyGILState_Ensure();
    }
    ~Lock() { PyGILState_Release(state); }
    Lock(const Lock &) = delete;
    Lock &operator=(const Lock &) = delete;

  private:
    PyGILState_STATE state;
};

// Fails with the text "FAILURE: the pending exception of Python", and clears the exception.
inline int fail_with_exception(perf_test_error *error, const char *failure) {
    PyObject *type = nullptr, *value = nullptr, *trace = nullptr;
    PyErr_Fetch(&type, &value, &trace);
    Object text(value ? PyObject_Str(value) : nullptr);
    const char *reason = text ? PyUnicode_AsUTF8(text.get()) : nullptr;
    int result = perf_test_fail(error, "%s: %s", failure, reason ? reason : "Python gives no reason");
    Py_XDECREF(type);
    Py_XDECREF(value);
    Py_XDECREF(trace);
    PyErr_Clear();
    return result;
}
