// Access to messages in memory as CDR (XCDR1, little endian). The generated code of messages uses these templates.
//
// A *kind* is a type of field. It finds and checks the field in a message's bytes (locate), gives access to it (get,
// get_mut), and writes its initial value (compose). A *layout* has the positions of the fields in a message; they are
// found once, when a view is created. A *shape* has the texts and lengths that determine the size of a message before
// it is built.
//
// Invariant: every read and write of a kind is inside the message for which its layout was found or composed.
#pragma once

#include <gantry/cdr/list.hpp>
#include <gantry/cdr/number.hpp>
#include <gantry/cdr/position.hpp>
#include <gantry/cdr/text.hpp>

namespace gantry::cdr {

// A view of no message. It must not be read.
template <class View>
View no_view() noexcept {
    if constexpr (std::is_pointer_v<View>)
        return nullptr;
    else
        return View(nullptr, 0, {});
}

template <class M>
[[gnu::cold, gnu::noinline]] error refused_body(const char *why) {
    return {GANTRY_INVALID_ARGUMENT, std::string(message<M>::name) + ": " + why};
}

inline bool is_aligned(const void *body) noexcept { return reinterpret_cast<std::uintptr_t>(body) % 8 == 0; }

// The view of the message in `body`, which must be 8-byte aligned. The view of a plain message is a pointer to its
// struct. Bytes after the message are ignored.
template <class M>
auto view(const void *body, std::size_t size) -> result<typename message<M>::view> {
    const auto *bytes = static_cast<const std::uint8_t *>(body);
    if (!is_aligned(bytes)) return refused_body<M>("the body is not 8-byte aligned");
    if (size > UINT32_MAX) return refused_body<M>("the message is larger than 4 GiB");
    cursor from(bytes, size);
    typename message<M>::kind::layout at{};
    if (!message<M>::kind::locate(from, at)) return from.error(message<M>::name);
    if constexpr (message<M>::is_plain)
        return &message<M>::kind::get(bytes, size, at);
    else
        return message<M>::kind::get(bytes, size, at);
}

// The number of bytes of a message with this shape.
template <class M>
result<std::size_t> size_of(const typename message<M>::shape &shape) {
    composer to(nullptr, 0);
    typename message<M>::kind::layout at{};
    if (!message<M>::kind::compose(to, shape, at)) return to.error(message<M>::name);
    return to.offset();
}

// Builds a message with this shape in memory of exactly its size: writes texts, lengths and defaults. Arrays and
// sequences of more than max_default_bytes are not written; they keep the old bytes of the memory.
template <class M>
auto build(void *memory, std::size_t size, const typename message<M>::shape &shape)
    -> result<typename message<M>::mut_view> {
    auto *bytes = static_cast<std::uint8_t *>(memory);
    if (!is_aligned(bytes)) return refused_body<M>("the body is not 8-byte aligned");
    composer to(bytes, size);
    typename message<M>::kind::layout at{};
    if (!message<M>::kind::compose(to, shape, at)) return to.error(message<M>::name);
    if (to.offset() != size) {
        to.fail_rest(size - to.offset());
        return to.error(message<M>::name);
    }
    if constexpr (message<M>::is_plain)
        return &message<M>::kind::get_mut(bytes, size, at);
    else
        return message<M>::kind::get_mut(bytes, size, at);
}

}  // namespace gantry::cdr
