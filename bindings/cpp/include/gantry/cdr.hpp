// Messages in place over CDR (XCDR1, little endian): what the generated code of messages stands on.
//
// A *kind* is a type of field. It finds and checks the field in bytes (locate), gives it in place (get, get_mut), and lays
// it out in memory (compose). A *layout* has the positions of fields in a body, found once when a view is made. A *shape*
// has the texts and lengths that fix the size of a message before it is built.
//
// Invariant: every read and write of a kind lies in the body that its layout was found or composed in.
#pragma once

#include <gantry/cdr/list.hpp>
#include <gantry/cdr/number.hpp>
#include <gantry/cdr/position.hpp>
#include <gantry/cdr/text.hpp>

namespace gantry::cdr {

// The view of the message in `body`, which is 8-byte aligned: for a plain message a pointer to its struct. Bytes after
// the message are ignored.
template <class M>
auto view(const void *body, std::size_t size) -> result<typename message<M>::view> {
    const auto *bytes = static_cast<const std::uint8_t *>(body);
    if (reinterpret_cast<std::uintptr_t>(bytes) % 8 != 0)
        return error{GANTRY_INVALID_ARGUMENT, std::string(message<M>::name) + ": the body is not 8-byte aligned"};
    if (size > UINT32_MAX)
        return error{GANTRY_INVALID_ARGUMENT, std::string(message<M>::name) + ": the message is larger than 4 GiB"};
    cursor from(bytes, size);
    typename message<M>::kind::layout at{};
    if (!message<M>::kind::locate(from, at)) return from.error(message<M>::name);
    if constexpr (message<M>::is_plain)
        return &message<M>::kind::get(bytes, size, at);
    else
        return message<M>::kind::get(bytes, size, at);
}

// The number of bytes of a message of this shape.
template <class M>
result<std::size_t> size_of(const typename message<M>::shape &shape) {
    composer to(nullptr, 0);
    typename message<M>::kind::layout at{};
    if (!message<M>::kind::compose(to, shape, at)) return to.error(message<M>::name);
    return to.offset();
}

// Builds a message of this shape in memory of exactly its size: texts, lengths and defaults. Arrays and sequences of more
// than max_default_bytes keep the memory's bytes.
template <class M>
auto build(void *memory, std::size_t size, const typename message<M>::shape &shape)
    -> result<typename message<M>::mut_view> {
    auto *bytes = static_cast<std::uint8_t *>(memory);
    if (reinterpret_cast<std::uintptr_t>(bytes) % 8 != 0)
        return error{GANTRY_INVALID_ARGUMENT, std::string(message<M>::name) + ": the body is not 8-byte aligned"};
    composer to(bytes, size);
    typename message<M>::kind::layout at{};
    if (!message<M>::kind::compose(to, shape, at)) return to.error(message<M>::name);
    if (to.offset() != size) {
        to.fail(std::to_string(size - to.offset()) + " bytes of the memory follow the message");
        return to.error(message<M>::name);
    }
    if constexpr (message<M>::is_plain)
        return &message<M>::kind::get_mut(bytes, size, at);
    else
        return message<M>::kind::get_mut(bytes, size, at);
}

}  // namespace gantry::cdr
