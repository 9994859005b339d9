// Positions in a message's bytes: a cursor reads a message, and a composer builds one. Both record the path of the
// field in which an error occurs.
#pragma once

#include <gantry/result.hpp>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <memory>
#include <string>
#include <string_view>
#include <type_traits>

static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "messages in place are little endian");

namespace gantry::cdr {

constexpr std::uint32_t unbounded = UINT32_MAX;
// The largest size of an array or sequence that is built with its defaults. A larger one keeps the old bytes of the
// memory.
constexpr std::size_t max_default_bytes = 4096;

// The position and the number of elements or characters.
struct extent {
    std::uint32_t start = 0;
    std::uint32_t count = 0;
};

// The empty shape of a field that has the same size in all messages.
struct no_shape {};

// The common part of cursor and composer: an offset in a message's bytes, and the error with the path of its field.
class position {
public:
    std::size_t offset() const noexcept { return offset_; }
    std::uint32_t offset32() const noexcept { return static_cast<std::uint32_t>(offset_); }

    // Records an error at the present offset. Returns false.
    [[gnu::cold, gnu::noinline]] bool fail(std::string sentence) { return fail_at(offset_, std::move(sentence)); }
    [[gnu::cold, gnu::noinline]] bool fail_at(std::size_t offset, std::string sentence) {
        error_ = std::make_unique<failure>(failure{offset, {}, std::move(sentence)});
        return false;
    }
    // Adds the name of a field, or the index of an element, to the front of the error's path. Returns false.
    [[gnu::cold, gnu::noinline]] bool inside(std::string_view name) {
        std::string &path = error_->path;
        const bool needs_dot = !path.empty() && path[0] != '[';
        path = std::string(name) + (needs_dot ? "." : "") + path;
        return false;
    }
    [[gnu::cold, gnu::noinline]] bool inside_element(std::size_t index) { return inside("[" + std::to_string(index) + "]"); }

    // The error that was recorded.
    [[gnu::cold, gnu::noinline]] gantry::error error(const char *type_name) const {
        std::string text = error_->path.empty() ? type_name : "`" + error_->path + "` of " + type_name;
        text += " at byte " + std::to_string(error_->offset) + ": " + error_->sentence;
        return {GANTRY_INVALID_ARGUMENT, std::move(text)};
    }

    bool check_bound(std::size_t at, std::size_t length, std::uint32_t bound) {
        if (length <= bound) return true;
        return fail_bound(at, length, bound);
    }

    [[gnu::cold, gnu::noinline]] bool fail_rest(std::size_t bytes) {
        return fail(std::to_string(bytes) + " bytes of the memory follow the message");
    }

protected:
    [[gnu::cold, gnu::noinline]] bool fail_bound(std::size_t at, std::size_t length, std::uint32_t bound) {
        return fail_at(at, "its length is " + std::to_string(length) + " and may be " + std::to_string(bound));
    }
    // Records that a field of `bytes` bytes at `from` does not fit in `size` bytes. Returns false.
    [[gnu::cold, gnu::noinline]] bool fail_room(std::size_t bytes, std::size_t from, std::size_t size) {
        const std::size_t left = from > size ? 0 : size - from;
        return fail(std::to_string(bytes) + " bytes are needed and " + std::to_string(left) + " are left");
    }
    [[gnu::cold, gnu::noinline]] bool fail_4_gib() { return fail("the message is larger than 4 GiB"); }

    static std::size_t aligned(std::size_t offset, std::size_t align) noexcept {
        return (offset + align - 1) / align * align;
    }

    std::size_t offset_ = 0;

private:
    struct failure {
        std::size_t offset;
        std::string path, sentence;
    };
    std::unique_ptr<failure> error_;
};

// Lengths are multiplied by the sizes of elements, and a 32-bit product could overflow.
static_assert(sizeof(std::size_t) == 8, "Gantry needs a 64-bit platform");

// Finds the fields of a message in its bytes and checks them.
class cursor : public position {
public:
    cursor(const std::uint8_t *body, std::size_t size, std::size_t offset = 0, bool is_checked = false) noexcept
        : body_(body), size_(size), is_checked_(is_checked) {
        offset_ = offset;
    }

    const std::uint8_t *body() const noexcept { return body_; }
    // Whether the texts of the message were already checked.
    bool is_checked() const noexcept { return is_checked_; }

    // Skips padding and `bytes` bytes at the next multiple of `align`. Stores their offset in `start`.
    bool take(std::size_t bytes, std::size_t align, std::uint32_t &start) {
        const std::size_t from = aligned(offset_, align);
        if (from > size_ || bytes > size_ - from) return fail_room(bytes, from, size_);
        if (from + bytes > std::numeric_limits<std::uint32_t>::max()) return fail_4_gib();
        start = static_cast<std::uint32_t>(from);
        offset_ = from + bytes;
        return true;
    }

    // Reads the length of a sequence or text. It is loaded only once, so that the value that was checked is also the
    // value that is used.
    bool length(std::size_t &value) {
        std::uint32_t at = 0;
        if (!take(4, 4, at)) return false;
        value = *reinterpret_cast<const volatile std::uint32_t *>(body_ + at);
        return true;
    }

private:
    const std::uint8_t *body_;
    std::size_t size_;
    bool is_checked_;
};

// Builds a message in memory, or only counts its bytes (memory == nullptr).
class composer : public position {
public:
    composer(std::uint8_t *memory, std::size_t size) noexcept : memory_(memory), size_(size) {}

    bool counts() const noexcept { return memory_ == nullptr; }
    std::uint8_t *memory() const noexcept { return memory_; }

    // Fills the padding up to the next multiple of `align` with zeros. Skips `bytes` bytes without writing them.
    bool reserve(std::size_t bytes, std::size_t align, std::uint32_t &start) {
        const std::size_t from = aligned(offset_, align);
        if (bytes > UINT32_MAX - from || from > UINT32_MAX) return fail_4_gib();
        if (memory_) {
            if (from > size_ || bytes > size_ - from) return fail_room(bytes, from, size_);
            for (std::size_t at = offset_; at < from; at++) memory_[at] = 0;  // at most 7 bytes
        }
        start = static_cast<std::uint32_t>(from);
        offset_ = from + bytes;
        return true;
    }

    template <class T>
    bool put(T value) {
        std::uint32_t at = 0;
        if (!reserve(sizeof(T), sizeof(T), at)) return false;
        if (memory_) std::memcpy(memory_ + at, &value, sizeof(T));
        return true;
    }

    // Writes the length `count` + `more`; for example, a text has one more byte than its characters.
    bool length(std::size_t count, std::uint32_t bound, std::uint32_t more = 0) {
        if (!check_bound(offset_, count, bound)) return false;
        if (count > UINT32_MAX - more) return fail_4_gib();
        return put(static_cast<std::uint32_t>(count + more));
    }

private:
    std::uint8_t *memory_;
    std::size_t size_;
};

}  // namespace gantry::cdr
