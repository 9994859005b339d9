// Texts: strings and wide strings in a message's bytes.
#pragma once

#include <gantry/cdr/position.hpp>
#include <gantry/cdr/unicode.hpp>
#include <gantry/span.hpp>

namespace gantry::cdr {

// A string: its length including the terminating 0, its bytes, and the 0.
template <std::uint32_t Bound = unbounded>
struct text {
    using layout = extent;
    using shape = std::string_view;
    using ref = std::string_view;
    using mut = std::string_view;

    static bool locate(cursor &from, layout &at) {
        std::size_t length = 0;
        if (!from.length(length) || !from.take(length, 1, at.start)) return false;
        if (length > 0) {
            if (from.body()[at.start + length - 1] != 0) return from.fail_at(at.start, "its text does not end in 0");
            length--;
        }
        at.count = static_cast<std::uint32_t>(length);
        if (!from.check_bound(at.start, length, Bound)) return false;
        if (!from.is_checked() && !detail::is_utf8(from.body() + at.start, length))
            return from.fail_at(at.start, "its text is not UTF-8");
        return true;
    }
    static ref get(const std::uint8_t *body, std::size_t, layout at) noexcept {
        return {reinterpret_cast<const char *>(body + at.start), at.count};
    }
    static ref get_mut(const std::uint8_t *body, std::size_t size, layout at) noexcept { return get(body, size, at); }
    static bool compose(composer &to, std::string_view value, layout &at) {
        const auto *bytes = reinterpret_cast<const std::uint8_t *>(value.data());
        if (!detail::is_utf8(bytes, value.size())) return to.fail("its text is not UTF-8");
        if (!to.length(value.size(), Bound, 1) || !to.reserve(value.size() + 1, 1, at.start)) return false;
        if (!to.counts()) {
            if (!value.empty()) std::memcpy(to.memory() + at.start, value.data(), value.size());
            to.memory()[at.start + value.size()] = 0;
        }
        at.count = static_cast<std::uint32_t>(value.size());
        return true;
    }
    static shape shape_of(ref value) { return value; }
    static void copy(mut, ref) {}
};

// A wide string in a message's bytes: UTF-16, each unit in four bytes, as in ROS 2.
class wide_text_view {
public:
    explicit wide_text_view(span<const std::uint32_t> units) noexcept : units_(units) {}
    // The number of UTF-16 units.
    std::size_t size() const noexcept { return units_.size(); }
    char16_t operator[](std::size_t index) const noexcept { return static_cast<char16_t>(units_[index]); }
    std::u16string to_u16string() const {
        std::u16string text;
        for (const std::uint32_t unit : units_) text.push_back(static_cast<char16_t>(unit));
        return text;
    }

private:
    span<const std::uint32_t> units_;
};

template <std::uint32_t Bound = unbounded>
struct wide_text {
    using layout = extent;
    using shape = std::u16string;
    using ref = wide_text_view;
    using mut = wide_text_view;

    static bool locate(cursor &from, layout &at) {
        std::size_t length = 0;
        if (!from.length(length) || !from.take(length * 4, 4, at.start)) return false;
        if (!from.check_bound(at.start, length, Bound)) return false;
        at.count = static_cast<std::uint32_t>(length);
        const auto *units = reinterpret_cast<const std::uint32_t *>(from.body() + at.start);
        if (!from.is_checked() && !detail::is_utf16(length, [units](std::size_t i) { return units[i]; }))
            return from.fail_at(at.start, "its text is not UTF-16");
        return true;
    }
    static ref get(const std::uint8_t *body, std::size_t, layout at) noexcept {
        return ref({reinterpret_cast<const std::uint32_t *>(body + at.start), at.count});
    }
    static ref get_mut(const std::uint8_t *body, std::size_t size, layout at) noexcept { return get(body, size, at); }
    static bool compose(composer &to, std::u16string_view value, layout &at) {
        if (!detail::is_utf16(value.size(), [value](std::size_t i) { return std::uint32_t{value[i]}; }))
            return to.fail("its text is not UTF-16");
        if (!to.length(value.size(), Bound) || !to.reserve(value.size() * 4, 4, at.start)) return false;
        for (std::size_t i = 0; i < value.size() && !to.counts(); i++) {
            const std::uint32_t unit = value[i];
            std::memcpy(to.memory() + at.start + 4 * i, &unit, 4);
        }
        at.count = static_cast<std::uint32_t>(value.size());
        return true;
    }
    static shape shape_of(ref value) { return value.to_u16string(); }
    static void copy(mut, ref) {}
};

}  // namespace gantry::cdr
