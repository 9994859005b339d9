// Compares views and builders with bytes that Rust wrote. tests/cpp/vectors.rs of gantry-c defines the format.
#pragma once

#include "check.hpp"

#include <gantry/cdr.hpp>

#include <fstream>
#include <iterator>
#include <memory>

namespace vectors {

enum kind : std::uint8_t { refused = 0, accepted = 1, same = 2, defaults = 3, end = 4 };

class reader {
public:
    explicit reader(const char *path) {
        std::ifstream file(path, std::ios::binary);
        bytes_.assign(std::istreambuf_iterator<char>(file), {});
        CHECK(!bytes_.empty());
    }
    std::uint8_t number() {
        CHECK(at_ < bytes_.size());
        return static_cast<std::uint8_t>(bytes_[at_++]);
    }
    std::string text() {
        std::uint32_t length = 0;
        CHECK(bytes_.size() - at_ >= 4);
        std::memcpy(&length, bytes_.data() + at_, 4);
        at_ += 4;
        CHECK(bytes_.size() - at_ >= length);
        at_ += length;
        return std::string(bytes_.data() + at_ - length, length);
    }

private:
    std::vector<char> bytes_;
    std::size_t at_ = 0;
};

// Memory of exactly this size, so that the sanitizer detects each access beyond it.
inline std::unique_ptr<std::uint8_t[]> memory(std::size_t size, std::uint8_t fill) {
    std::unique_ptr<std::uint8_t[]> made(new std::uint8_t[size]);
    if (size > 0) std::memset(made.get(), fill, size);
    return made;
}

inline void compare(const char *name, const std::uint8_t *built, const std::string &expected) {
    for (std::size_t at = 0; at < expected.size(); at++) {
        if (built[at] == static_cast<std::uint8_t>(expected[at])) continue;
        std::fprintf(stderr, "%s: byte %zu of %zu is %02x, and in Rust %02x\n", name, at, expected.size(), built[at],
                     static_cast<unsigned>(static_cast<std::uint8_t>(expected[at])));
        std::exit(1);
    }
}

// Builds a copy of the message from its view.
template <class M>
void rebuild(const typename gantry::message<M>::view &view, const std::string &expected) {
    using message = gantry::message<M>;
    if constexpr (message::is_plain) {
        const auto copy = std::make_unique<M>(*view);
        compare(message::name, reinterpret_cast<const std::uint8_t *>(copy.get()), expected);
    } else {
        const auto shape = M::shape_of(view);
        CHECK(ok(gantry::cdr::size_of<M>(shape)) == expected.size());
        const auto built = memory(expected.size(), 0xa5);
        const auto target = ok(gantry::cdr::build<M>(built.get(), expected.size(), shape));
        M::copy(target, view);
        compare(message::name, built.get(), expected);
    }
}

template <class M>
void check(reader &from) {
    using message = gantry::message<M>;
    for (;;) {
        const auto kind = from.number();
        const std::string bytes = from.text(), sentence = from.text();
        if (kind == end) return;
        const auto body = memory(bytes.size(), 0);
        if (!bytes.empty()) std::memcpy(body.get(), bytes.data(), bytes.size());
        if (kind == defaults) {
            const auto built = memory(bytes.size(), 0);
            ok(gantry::cdr::build<M>(built.get(), bytes.size(), {}));
            compare(message::name, built.get(), bytes);
            continue;
        }
        const auto view = gantry::cdr::view<M>(body.get(), bytes.size());
        if (kind == refused) {
            CHECK(!view.has_value());
            if (!sentence.empty() && view.error().message != sentence) {
                std::fprintf(stderr, "C++:  %s\nRust: %s\n", view.error().message.c_str(), sentence.c_str());
                std::exit(1);
            }
            continue;
        }
        if (!view.has_value()) std::fprintf(stderr, "%s\n", view.error().message.c_str());
        CHECK(view.has_value());
        if (kind == same) rebuild<M>(*view, bytes);
    }
}

}  // namespace vectors
