// Lists: sequences and arrays of texts, and of messages that are not plain.
#pragma once

#include <gantry/cdr/position.hpp>

#include <array>
#include <optional>
#include <vector>

namespace gantry::cdr {

// A list in a message's bytes, whose elements differ in length. A step to the next element skips one element; an index
// skips all elements before it. `Body` is const std::uint8_t, or std::uint8_t if the elements may be written. If
// another process changes the bytes after they were checked so that they are no list any more, an iteration ends early.
template <class K, class Body>
class basic_list {
public:
    using value_type = std::conditional_t<std::is_const_v<Body>, typename K::ref, typename K::mut>;

    class iterator {
    public:
        iterator(Body *body, std::size_t size, std::size_t offset, std::size_t left)
            : body_(body), size_(size), next_(offset), left_(left) {
            find();
        }
        value_type operator*() const {
            if constexpr (std::is_const_v<Body>)
                return K::get(body_, size_, found_);
            else
                return K::get_mut(body_, size_, found_);
        }
        iterator &operator++() {
            left_--;
            find();
            return *this;
        }
        bool operator!=(const iterator &other) const noexcept { return left_ != other.left_; }
        bool operator==(const iterator &other) const noexcept { return left_ == other.left_; }

    private:
        void find() {
            if (left_ == 0) return;
            cursor from(body_, size_, next_, true);
            if (K::locate(from, found_))
                next_ = from.offset();
            else
                left_ = 0;
        }

        Body *body_;
        std::size_t size_, next_, left_;
        typename K::layout found_{};
    };

    basic_list(Body *body, std::size_t size, extent at) noexcept : body_(body), size_(size), at_(at) {}

    std::size_t size() const noexcept { return at_.count; }
    bool empty() const noexcept { return at_.count == 0; }
    iterator begin() const { return {body_, size_, at_.start, at_.count}; }
    iterator end() const { return {body_, size_, 0, 0}; }
    // The element at `index`; no value if the list is not that long.
    std::optional<value_type> get(std::size_t index) const {
        auto found = begin();
        const auto behind = end();
        while (index-- > 0 && found != behind) ++found;
        return found != behind ? std::optional<value_type>(*found) : std::nullopt;
    }

private:
    Body *body_;
    std::size_t size_;
    extent at_;
};

// The common part of `list` and `fixed_list`.
template <class K>
struct elements {
    using layout = extent;
    using ref = basic_list<K, const std::uint8_t>;
    using mut = basic_list<K, std::uint8_t>;

    static bool locate_all(cursor &from, std::size_t count, extent &at) {
        at = {from.offset32(), static_cast<std::uint32_t>(count)};
        typename K::layout found{};
        for (std::size_t i = 0; i < count; i++)
            if (!K::locate(from, found)) return from.inside_element(i);
        return true;
    }
    template <class Shape>
    static bool compose_all(composer &to, std::size_t count, Shape shape, extent &at) {
        at = {to.offset32(), static_cast<std::uint32_t>(count)};
        typename K::layout made{};
        for (std::size_t i = 0; i < count; i++)
            if (!K::compose(to, shape(i), made)) return to.inside_element(i);
        return true;
    }
    static ref get(const std::uint8_t *body, std::size_t size, extent at) noexcept { return {body, size, at}; }
    static mut get_mut(std::uint8_t *body, std::size_t size, extent at) noexcept { return {body, size, at}; }
    static void copy(mut to, ref from) {
        auto target = to.begin();
        const auto behind = to.end();
        for (const auto value : from) {
            if (target == behind) return;
            K::copy(*target, value);
            ++target;
        }
    }
};

// A sequence of texts, or of messages that are not plain. Its shape contains a shape for each element.
template <class K, std::uint32_t Bound = unbounded>
struct list : elements<K> {
    using shape = std::conditional_t<std::is_empty_v<typename K::shape>, std::size_t, std::vector<typename K::shape>>;

    static bool locate(cursor &from, extent &at) {
        std::size_t length = 0;
        return from.length(length) && from.check_bound(from.offset(), length, Bound) &&
               elements<K>::locate_all(from, length, at);
    }
    static bool compose(composer &to, const shape &value, extent &at) {
        if constexpr (std::is_empty_v<typename K::shape>)
            return to.length(value, Bound) &&
                   elements<K>::compose_all(to, value, [](std::size_t) { return typename K::shape{}; }, at);
        else
            return to.length(value.size(), Bound) &&
                   elements<K>::compose_all(
                       to, value.size(), [&](std::size_t i) -> const typename K::shape & { return value[i]; }, at);
    }
    static shape shape_of(typename elements<K>::ref value) {
        if constexpr (std::is_empty_v<typename K::shape>) {
            return value.size();
        } else {
            shape shapes;
            for (const auto each : value) shapes.push_back(K::shape_of(each));
            return shapes;
        }
    }
};

// An array of texts, or of messages that are not plain.
template <class K, std::size_t N>
struct fixed_list : elements<K> {
    using shape =
        std::conditional_t<std::is_empty_v<typename K::shape>, no_shape, std::array<typename K::shape, N>>;

    static bool locate(cursor &from, extent &at) { return elements<K>::locate_all(from, N, at); }
    static bool compose(composer &to, const shape &value, extent &at) {
        if constexpr (std::is_empty_v<typename K::shape>) {
            (void)value;
            return elements<K>::compose_all(to, N, [](std::size_t) { return typename K::shape{}; }, at);
        } else {
            return elements<K>::compose_all(
                to, N, [&](std::size_t i) -> const typename K::shape & { return value[i]; }, at);
        }
    }
    static shape shape_of(typename elements<K>::ref value) {
        shape shapes{};
        if constexpr (!std::is_empty_v<typename K::shape>) {
            std::size_t i = 0;
            for (const auto each : value) shapes[i++] = K::shape_of(each);
        }
        return shapes;
    }
};

}  // namespace gantry::cdr
