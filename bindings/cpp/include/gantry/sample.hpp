// Samples: received messages, which are read in their publisher's memory.
#pragma once

#include <gantry/loan.hpp>

#include <optional>

namespace gantry {

// A received message. It stays unchanged, and its memory is held, until this object is dropped.
class GenericSample {
public:
    GenericSample() noexcept = default;
    explicit GenericSample(const gantry_sample &raw) noexcept : raw_(raw) {}
    GenericSample(GenericSample &&other) noexcept : raw_(detail::move_raw(other.raw_)) {}
    GenericSample &operator=(GenericSample &&other) noexcept {
        if (this != &other) {
            gantry_sample_release(&raw_);
            raw_ = detail::move_raw(other.raw_);
        }
        return *this;
    }
    GenericSample(const GenericSample &) = delete;
    GenericSample &operator=(const GenericSample &) = delete;
    ~GenericSample() {
        if (raw_.data) gantry_sample_release(&raw_);
    }

    span<const std::uint8_t> bytes() const noexcept {
        return {static_cast<const std::uint8_t *>(raw_.data), raw_.size};
    }
    // The times, the sequence number and the publisher of the message.
    gantry_sample_info info() const noexcept {
        auto info = detail::sized<gantry_sample_info>();
        gantry_sample_get_info(&raw_, &info);
        return info;
    }
    explicit operator bool() const noexcept { return raw_.data != nullptr; }
    // The C struct, for the functions of gantry.h.
    const gantry_sample *raw() const noexcept { return &raw_; }
    // The struct of an empty sample, for the functions of gantry.h that take one.
    gantry_sample *raw() noexcept { return &raw_; }

private:
    gantry_sample raw_ = {};
};

// A received message of type M: `sample->width()`, or `sample->x` if M is plain. The spans, texts and views that it
// returns are in the publisher's memory: keep the sample while they are used.
template <class M>
class Sample {
public:
    using view = typename message<M>::view;

    Sample(GenericSample bytes, view at) noexcept : bytes_(std::move(bytes)), view_(std::move(at)) {}
    explicit Sample(detail::empty) noexcept : view_(cdr::no_view<view>()) {}

    const auto &operator*() const noexcept {
        if constexpr (message<M>::is_plain)
            return *view_;
        else
            return view_;
    }
    const auto *operator->() const noexcept { return &**this; }

    gantry_sample_info info() const noexcept { return bytes_.info(); }
    const GenericSample &generic() const noexcept { return bytes_; }
    GenericSample &generic() noexcept { return bytes_; }

private:
    friend struct detail::fill;

    GenericSample bytes_;
    view view_;
};

namespace detail {

// Fills an empty sample with the next well-formed message. Returns false if there is none.
template <class M, class Take, class Skip>
result<bool> fill_sample(Sample<M> &sample, Take &take, Skip &skip) {
    GenericSample &bytes = sample.generic();
    for (;;) {
        const gantry_status status = take(bytes.raw());
        if (status < 0) return error::last(status);
        if (status != GANTRY_OK) return false;
        auto view = cdr::view<M>(bytes.bytes().data(), bytes.bytes().size());
        if (view) {
            fill::set_view(sample, *view);
            return true;
        }
        skip(std::as_const(bytes).raw(), view.error().message.c_str());
        bytes = GenericSample();
    }
}

// The next well-formed message of type M, if there is one. `take` gets the next sample, and `skip` counts a malformed
// one. The sample is made where the caller's result is.
template <class M, class Take, class Skip>
result<std::optional<Sample<M>>> take(Take take, Skip skip) {
    result<std::optional<Sample<M>>> taken(std::in_place, std::in_place, empty{});
    const result<bool> is_filled = fill_sample(**taken, take, skip);
    if (!is_filled)
        taken = is_filled.error();
    else if (!*is_filled)
        taken->reset();
    return taken;
}

}  // namespace detail

}  // namespace gantry
