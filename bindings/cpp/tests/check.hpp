// Checks that print the line of a failure, and the text of an error.
#pragma once

#include <cstdio>
#include <cstdlib>
#include <type_traits>
#include <utility>

#define CHECK(condition)                                                              \
    do {                                                                              \
        if (!(condition)) {                                                           \
            std::fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, #condition); \
            std::exit(1);                                                             \
        }                                                                             \
    } while (0)

// The longest time of any wait. Only a test that hangs reaches it.
#define PATIENCE std::chrono::seconds(60)

// Returns the value of a result, or prints its error and exits.
template <class Result>
auto ok(Result &&made) {
    if (!made.has_value()) {
        std::fprintf(stderr, "%s\n", made.error().message.c_str());
        std::exit(1);
    }
    if constexpr (!std::is_void_v<typename std::decay_t<Result>::value_type>) return *std::forward<Result>(made);
}
