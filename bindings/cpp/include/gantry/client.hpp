// Clients of services.
#pragma once

#include <gantry/handle.hpp>
#include <gantry/loan.hpp>
#include <gantry/qos.hpp>
#include <gantry/sample.hpp>

namespace gantry {

// A response with the id of its request. It is a Sample of the response message.
template <class S>
class Response : public Sample<typename S::Response> {
public:
    Response(Sample<typename S::Response> sample, const gantry_request_id &id) noexcept
        : Sample<typename S::Response>(std::move(sample)), id_(id) {}
    const gantry_request_id &id() const noexcept { return id_; }

private:
    gantry_request_id id_;
};

// A client of a service. Only one thread at a time may use it.
template <class S>
class Client {
public:
    using Request = typename S::Request;
    using RequestShape = typename message<Request>::shape;

    explicit Client(gantry_client *handle) noexcept : handle_(handle) {}

    result<Loan<Request>> loan_request(const RequestShape &shape = {}) {
        return detail::loan<Request>(shape, [this](std::size_t size, gantry_loan *made) {
            return detail::done(gantry_client_loan_request(handle_.get(), size, made));
        });
    }
    // Sends a request. After a failure the caller still owns the loan.
    result<gantry_request_id> send_request(Loan<Request> &&request) {
        gantry_request_id id = {};
        const gantry_status status = gantry_client_send_request(handle_.get(), request.generic().raw(), &id);
        if (status < 0) return error::last(status);
        return id;
    }
    // The next response, which is read in shared memory. An error means that a request will get no response, or that
    // the call failed.
    result<std::optional<Response<S>>> take_response() {
        gantry_request_id id = {};
        auto taken = detail::take<typename S::Response>(
            [&](gantry_sample *sample) { return gantry_client_take_response(handle_.get(), sample, &id); },
            [&](const gantry_sample *sample, const char *why) {
                gantry_client_skip_malformed(handle_.get(), sample, why);
            });
        if (!taken) return taken.error();
        if (!*taken) return std::optional<Response<S>>();
        return std::optional<Response<S>>(Response<S>(**std::move(taken), id));
    }
    // Sends a request and waits for its response, which is read in shared memory.
    result<Sample<typename S::Response>> call(Loan<Request> &&request, std::chrono::nanoseconds timeout) {
        GenericSample bytes;
        const gantry_status status =
            gantry_client_call(handle_.get(), request.generic().raw(), detail::timeout_ns(timeout), bytes.raw());
        if (status < 0) return error::last(status);
        auto view = cdr::view<typename S::Response>(bytes.bytes().data(), bytes.bytes().size());
        if (!view) {
            gantry_client_skip_malformed(handle_.get(), bytes.raw(), view.error().message.c_str());
            return view.error();
        }
        return Sample<typename S::Response>(std::move(bytes), *std::move(view));
    }
    // Waits until a server is matched. Returns false after the timeout.
    result<bool> wait_for_service(std::chrono::nanoseconds timeout) {
        return detail::whether(gantry_client_wait_for_service(handle_.get(), detail::timeout_ns(timeout)));
    }
    result<bool> service_is_ready() {
        std::size_t count = 0;
        const gantry_status status = gantry_client_server_count(handle_.get(), &count);
        if (status < 0) return error::last(status);
        return count > 0;
    }
    result<bool> wait(std::chrono::nanoseconds timeout) {
        return detail::whether(gantry_client_wait(handle_.get(), detail::timeout_ns(timeout)));
    }
    // A file descriptor that is readable while there is a response to take. It does not become readable when a server
    // ends, so also take now and then.
    result<int> fd() {
        return detail::descriptor([this](std::int32_t *fd) { return gantry_client_get_fd(handle_.get(), fd); });
    }
    // One sentence for each server of the service that is not matched, with the reason.
    result<std::vector<std::string>> mismatches() {
        return detail::strings([this](auto **list) { return gantry_client_mismatches(handle_.get(), list); });
    }
    // Removes a pending request. Returns false if the request is not pending.
    result<bool> remove_pending_request(const gantry_request_id &id) {
        return detail::whether(gantry_client_remove_pending_request(handle_.get(), id));
    }
    const char *get_service_name() const noexcept { return gantry_client_name(handle_.get()); }
    gantry_wait_source wait_source() noexcept { return {GANTRY_SOURCE_CLIENT, false, handle_.get()}; }
    gantry_client *raw() noexcept { return handle_.get(); }

private:
    detail::handle<gantry_client, gantry_client_destroy> handle_;
};

}  // namespace gantry
