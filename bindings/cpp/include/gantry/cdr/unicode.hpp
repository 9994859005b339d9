// Checks of UTF-8 and UTF-16 texts, with the same rules as in Rust.
#pragma once

#include <cstddef>
#include <cstdint>

namespace gantry::detail {

// Whether bytes are valid UTF-8: no overlong forms, no surrogates, nothing above U+10FFFF.
inline bool is_utf8(const std::uint8_t *bytes, std::size_t size) noexcept {
    std::uint8_t all = 0;
    for (std::size_t at = 0; at < size; at++) all = static_cast<std::uint8_t>(all | bytes[at]);
    if (all < 0x80) return true;
    for (std::size_t at = 0; at < size;) {
        const std::uint8_t lead = bytes[at++];
        if (lead < 0x80) continue;
        // The number of bytes that follow the lead byte, and the allowed range of the first of them.
        std::size_t following = 0;
        std::uint8_t least = 0x80, most = 0xbf;
        if (lead >= 0xc2 && lead <= 0xdf) {
            following = 1;
        } else if (lead >= 0xe0 && lead <= 0xef) {
            following = 2;
            if (lead == 0xe0) least = 0xa0;
            if (lead == 0xed) most = 0x9f;
        } else if (lead >= 0xf0 && lead <= 0xf4) {
            following = 3;
            if (lead == 0xf0) least = 0x90;
            if (lead == 0xf4) most = 0x8f;
        } else {
            return false;
        }
        if (size - at < following) return false;
        for (std::size_t i = 0; i < following; i++, at++) {
            if (bytes[at] < least || bytes[at] > most) return false;
            least = 0x80;
            most = 0xbf;
        }
    }
    return true;
}

// Whether units are valid UTF-16: each at most 0xffff, surrogates in pairs. `unit(i)` returns the unit at index i.
template <class Unit>
bool is_utf16(std::size_t size, Unit unit) noexcept {
    for (std::size_t at = 0; at < size; at++) {
        const std::uint32_t first = unit(at);
        if (first > 0xffff || (first >= 0xdc00 && first <= 0xdfff)) return false;
        if (first < 0xd800 || first > 0xdbff) continue;
        if (++at == size) return false;
        const std::uint32_t second = unit(at);
        if (second < 0xdc00 || second > 0xdfff) return false;
    }
    return true;
}

}  // namespace gantry::detail
