// A span: a reference to contiguous elements in memory of another object, like C++20's std::span.
#pragma once

#include <cstddef>
#include <type_traits>
#include <utility>

namespace gantry {

template <class T>
class span {
public:
    using element_type = T;
    using value_type = std::remove_cv_t<T>;
    using iterator = T *;

    constexpr span() noexcept = default;
    constexpr span(T *data, std::size_t size) noexcept : data_(data), size_(size) {}
    template <std::size_t N>
    constexpr span(T (&array)[N]) noexcept : data_(array), size_(N) {}
    // Converts a container with contiguous elements, or a span of non-const T.
    template <class Container,
              class = std::enable_if_t<
                  !std::is_same_v<std::remove_cv_t<Container>, span> &&
                  std::is_convertible_v<std::remove_pointer_t<decltype(std::declval<Container &>().data())> (*)[],
                                        T (*)[]>>>
    constexpr span(Container &container) noexcept : data_(container.data()), size_(container.size()) {}

    constexpr T *data() const noexcept { return data_; }
    constexpr std::size_t size() const noexcept { return size_; }
    constexpr std::size_t size_bytes() const noexcept { return size_ * sizeof(T); }
    constexpr bool empty() const noexcept { return size_ == 0; }
    constexpr T *begin() const noexcept { return data_; }
    constexpr T *end() const noexcept { return data_ + size_; }
    constexpr T &operator[](std::size_t index) const noexcept { return data_[index]; }
    constexpr T &front() const noexcept { return data_[0]; }
    constexpr T &back() const noexcept { return data_[size_ - 1]; }
    constexpr span first(std::size_t count) const noexcept { return {data_, count}; }
    constexpr span subspan(std::size_t offset) const noexcept { return {data_ + offset, size_ - offset}; }
    constexpr span subspan(std::size_t offset, std::size_t count) const noexcept { return {data_ + offset, count}; }

private:
    T *data_ = nullptr;
    std::size_t size_ = 0;
};

}  // namespace gantry
