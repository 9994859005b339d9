// Owning pointers for the handles of gantry.h.
#pragma once

#include <gantry/result.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace gantry::detail {

template <class T, void (*Destroy)(T *)>
struct destroy {
    void operator()(T *handle) const noexcept { Destroy(handle); }
};

template <class T, void (*Destroy)(T *)>
using handle = std::unique_ptr<T, destroy<T, Destroy>>;

using strings_handle = handle<gantry_strings, gantry_strings_destroy>;

// The list of texts that a function of gantry.h returns. `make` calls the function with the address of the list.
template <class Make>
result<std::vector<std::string>> strings(Make make) {
    gantry_strings *made = nullptr;
    const gantry_status status = make(&made);
    if (status < 0) return error::last(status);
    const strings_handle list(made);
    std::vector<std::string> texts;
    for (std::size_t i = 0; i < gantry_strings_count(made); i++) texts.emplace_back(gantry_strings_get(made, i));
    return result<std::vector<std::string>>(std::move(texts));
}

// Reads one field of a struct that the library has just written. A compiler copies structs in larger pieces than the
// library stores their fields, and the processor would wait until the stores are complete (about 10 ns). `volatile`
// forbids larger pieces.
template <class T>
T read_alone(const T &field) noexcept {
    return const_cast<const volatile T &>(field);
}

// Moves a gantry_loan or a gantry_sample, which is empty afterwards.
template <class Raw>
Raw move_raw(Raw &from) noexcept {
    Raw moved;
    moved.data = read_alone(from.data);
    moved.size = read_alone(from.size);
    moved.owner = read_alone(from.owner);
    for (std::size_t i = 0; i < sizeof from.reserved / sizeof *from.reserved; i++)
        moved.reserved[i] = read_alone(from.reserved[i]);
    from = {};
    return moved;
}

// The file descriptor that a function of gantry.h returns. `get` calls the function with the address of the descriptor.
template <class Get>
result<int> descriptor(Get get) {
    std::int32_t fd = -1;
    const gantry_status status = get(&fd);
    if (status < 0) return error::last(status);
    return fd;
}

}  // namespace gantry::detail
