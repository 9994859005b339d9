// Servers of services.
#pragma once

#include <gantry/loan.hpp>
#include <gantry/qos.hpp>
#include <gantry/sample.hpp>
#include <gantry/handle.hpp>

namespace gantry {

// A request with its id. It is a Sample of the request message.
template <class S>
class Request : public Sample<typename S::Request> {
public:
    Request(Sample<typename S::Request> sample, const gantry_request_id &id) noexcept
        : Sample<typename S::Request>(std::move(sample)), id_(id) {}
    const gantry_request_id &id() const noexcept { return id_; }

private:
    gantry_request_id id_;
};

// The server of a service. Only one thread at a time may use it.
template <class S>
class Service {
public:
    using Response = typename S::Response;
    using ResponseShape = typename message<Response>::shape;

    explicit Service(gantry_service *handle) noexcept : handle_(handle) {}

    // The next request, which is read in shared memory. It may be answered now or later. A malformed request is
    // counted, logged and skipped.
    result<std::optional<Request<S>>> take_request() {
        gantry_request_id id = {};
        auto taken = detail::take<typename S::Request>(
            [&](gantry_sample *sample) { return gantry_service_take_request(handle_.get(), sample, &id); },
            [&](const gantry_sample *sample, const char *why) {
                gantry_service_skip_malformed(handle_.get(), sample, why);
            });
        if (!taken) return taken.error();
        if (!*taken) return std::optional<Request<S>>();
        return std::optional<Request<S>>(Request<S>(**std::move(taken), id));
    }
    // Loans a response in the memory in which the client reads it.
    result<Loan<Response>> loan_response(const gantry_request_id &id, const ResponseShape &shape = {}) {
        return detail::loan<Response>(shape, [&](std::size_t size, gantry_loan *made) {
            return detail::done(gantry_service_loan_response(handle_.get(), id, size, made));
        });
    }
    result<void> send_response(const gantry_request_id &id, Loan<Response> &&response) {
        return detail::done(gantry_service_send_response(handle_.get(), id, response.generic().raw()));
    }
    // Loans a response, calls `fill` to write it, and sends it.
    template <class Fill>
    result<void> respond(const gantry_request_id &id, const ResponseShape &shape, Fill &&fill) {
        auto made = loan_response(id, shape);
        if (!made) return made.error();
        fill(**made);
        return send_response(id, *std::move(made));
    }
    result<bool> wait(std::chrono::nanoseconds timeout) {
        return detail::whether(gantry_service_wait(handle_.get(), detail::timeout_ns(timeout)));
    }
    result<int> fd() {
        return detail::descriptor([this](std::int32_t *fd) { return gantry_service_get_fd(handle_.get(), fd); });
    }
    // One sentence for each client of the service that is not matched, with the reason.
    result<std::vector<std::string>> mismatches() {
        return detail::strings([this](auto **list) { return gantry_service_mismatches(handle_.get(), list); });
    }
    std::uint64_t lost_responses() const noexcept { return gantry_service_lost_responses(handle_.get()); }
    const char *get_service_name() const noexcept { return gantry_service_name(handle_.get()); }
    gantry_wait_source wait_source() noexcept { return {GANTRY_SOURCE_SERVICE, false, handle_.get()}; }
    gantry_service *raw() noexcept { return handle_.get(); }

private:
    detail::handle<gantry_service, gantry_service_destroy> handle_;
};

}  // namespace gantry
