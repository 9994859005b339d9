// Tests of results (errors as values and as exceptions) and of spans.
#include "check.hpp"

#include <gantry.hpp>
#include <gantry_msgs/std_msgs/msg/header.hpp>

#include <array>

int main() {
    const auto refused = gantry::Node::create("no spaces");
    CHECK(!refused && refused.error().status == GANTRY_INVALID_ARGUMENT);
    CHECK(refused.error().message.find("no spaces") != std::string::npos);
#if GANTRY_HAS_EXCEPTIONS
    try {
        gantry::Node node("no spaces");
        CHECK(false);
    } catch (const gantry::exception &why) {
        CHECK(why.status() == GANTRY_INVALID_ARGUMENT && refused.error().message == why.what());
    }
    CHECK(std::string(gantry::Node("good").get_fully_qualified_name()) == "/good");
#endif
    CHECK(gantry::result<int>(5).value_or(7) == 5);
    CHECK(gantry::result<int>(gantry::error{GANTRY_ERROR, "none"}).value_or(7) == 7);

    gantry::result<void> failed(gantry::error{GANTRY_ERROR, "none"});
    const auto moved = std::move(failed);
    CHECK(!moved && moved.error().message == "none" && !failed);  // a moved-from error is no success

    std::array<int, 3> numbers{{1, 2, 3}};
    const gantry::span<int> all(numbers);
    const gantry::span<const int> fixed(all);
    CHECK(fixed.size() == 3 && fixed.front() == 1 && fixed.subspan(1).front() == 2 && fixed.subspan(1, 1).size() == 1);
    const std::vector<int> list{4, 5};
    CHECK(gantry::span<const int>(list).back() == 5 && gantry::span<const int>().empty());

    using gantry_msgs::std_msgs::msg::Header;
    alignas(8) std::uint8_t memory[16] = {};
    CHECK(gantry::cdr::view<Header>(memory + 1, 8).error().message == "std_msgs/msg/Header: the body is not 8-byte aligned");
    CHECK(!gantry::cdr::build<Header>(memory, sizeof memory, {}).has_value());
    return 0;
}
