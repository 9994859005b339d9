// Loans: messages that the program writes directly in shared memory and publishes.
#pragma once

#include <gantry/cdr.hpp>
#include <gantry/handle.hpp>

namespace gantry {

namespace detail {

// The argument by which a loan or a sample is constructed empty, to be filled in its place.
struct empty {};

// Sets the view of a loan or a sample after its memory was filled.
struct fill {
    template <class Message, class View>
    static void set_view(Message &message, const View &view) noexcept {
        message.view_ = view;
    }
};

}  // namespace detail

// Loaned memory for a message as bytes. A loan that is dropped without being published is returned. The memory contains
// old values: write all bytes.
class GenericLoan {
public:
    GenericLoan() noexcept = default;
    explicit GenericLoan(const gantry_loan &raw) noexcept : raw_(raw) {}
    GenericLoan(GenericLoan &&other) noexcept : raw_(detail::move_raw(other.raw_)) {}
    GenericLoan &operator=(GenericLoan &&other) noexcept {
        if (this != &other) {
            gantry_loan_return(&raw_);
            raw_ = detail::move_raw(other.raw_);
        }
        return *this;
    }
    GenericLoan(const GenericLoan &) = delete;
    GenericLoan &operator=(const GenericLoan &) = delete;
    ~GenericLoan() {
        if (raw_.data) gantry_loan_return(&raw_);
    }

    span<std::uint8_t> bytes() const noexcept { return {static_cast<std::uint8_t *>(raw_.data), raw_.size}; }
    // False after the loan was published.
    explicit operator bool() const noexcept { return raw_.data != nullptr; }
    // The C struct, for the functions of gantry.h.
    gantry_loan *raw() noexcept { return &raw_; }

private:
    gantry_loan raw_ = {};
};

// A loaned message of type M: `loan->set_width(640)`, or `loan->x = 1.5` if M is plain. It must not be used after it
// was published.
template <class M>
class Loan {
public:
    using mut_view = typename message<M>::mut_view;

    Loan(GenericLoan bytes, mut_view view) noexcept : bytes_(std::move(bytes)), view_(std::move(view)) {}
    explicit Loan(detail::empty) noexcept : view_(cdr::no_view<mut_view>()) {}

    auto &operator*() noexcept {
        if constexpr (message<M>::is_plain)
            return *view_;
        else
            return view_;
    }
    auto *operator->() noexcept { return &**this; }

    explicit operator bool() const noexcept { return static_cast<bool>(bytes_); }
    GenericLoan &generic() noexcept { return bytes_; }

private:
    friend struct detail::fill;

    GenericLoan bytes_;
    mut_view view_;
};

namespace detail {

// Fills an empty loan.
template <class M, class Make>
result<void> fill_loan(Loan<M> &loan, const typename message<M>::shape &shape, Make &make) {
    std::size_t size = 0;
    if constexpr (message<M>::is_plain) {
        size = sizeof(M);
    } else {
        const auto counted = cdr::size_of<M>(shape);
        if (!counted) return counted.error();
        size = *counted;
    }
    if (result<void> made = make(size, loan.generic().raw()); !made) return made;
    const span<std::uint8_t> memory = loan.generic().bytes();
    auto view = cdr::build<M>(memory.data(), memory.size(), shape);
    if (!view) return view.error();
    fill::set_view(loan, *view);
    return {};
}

// Builds a message with this shape in memory that `make` loans: result<void> make(std::size_t size, gantry_loan *loan).
// The loan is made where the caller's result is, because moves would cost as much as the loan itself.
template <class M, class Make>
result<Loan<M>> loan(const typename message<M>::shape &shape, Make make) {
    result<Loan<M>> made(std::in_place, empty{});
    if (result<void> filled = fill_loan(*made, shape, make); !filled) made = filled.error();
    return made;
}

}  // namespace detail

}  // namespace gantry
