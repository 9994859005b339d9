// Tests of bytes that another process changes after they were checked: iterations end, and copies stay inside their
// loan.
#include "check.hpp"

#include <gantry/cdr.hpp>
#include <gantry_msgs/sensor_msgs/msg/point_cloud2.hpp>
#include <gantry_msgs/std_msgs/msg/u_int8_multi_array.hpp>

#include <memory>

using gantry_msgs::sensor_msgs::msg::PointCloud2;
using gantry_msgs::std_msgs::msg::UInt8MultiArray;

// Builds a message in memory of exactly its size, so that the sanitizer detects each access beyond it.
template <class M>
static std::unique_ptr<std::uint8_t[]> built(const typename M::Shape &shape, std::size_t &size) {
    size = ok(gantry::cdr::size_of<M>(shape));
    std::unique_ptr<std::uint8_t[]> memory(new std::uint8_t[size]);
    ok(gantry::cdr::build<M>(memory.get(), size, shape));
    return memory;
}

static void lists() {
    PointCloud2::Shape shape;
    shape.fields.resize(3);
    for (auto &field : shape.fields) field.name = "name";
    std::size_t size = 0;
    const auto memory = built<PointCloud2>(shape, size);
    const auto cloud = ok(gantry::cdr::view<PointCloud2>(memory.get(), size));
    const auto fields = cloud.fields();
    CHECK(fields.get(2)->name() == "name" && !fields.get(3));
    // Damages the length of the second name.
    auto *length = reinterpret_cast<std::uint32_t *>(
        const_cast<char *>(fields.get(1)->name().data()) - sizeof(std::uint32_t));
    *length = 1000000;
    std::size_t seen = 0;
    for (const auto field : fields) seen += field.name() == "name";
    CHECK(seen == 1 && fields.size() == 3 && fields.get(0) && !fields.get(1) && !fields.get(2));

    std::size_t target_size = 0;
    const auto target = built<PointCloud2>(shape, target_size);
    PointCloud2::copy(ok(gantry::cdr::build<PointCloud2>(target.get(), target_size, shape)), cloud);
}

// The positions of sequences in a list's elements are searched again in each iteration.
static void sequences() {
    std::size_t size = 0, large_size = 0;
    UInt8MultiArray::Shape small, large;
    small.data = 4;
    large.data = 4000;
    const auto memory = built<UInt8MultiArray>(small, size), large_memory = built<UInt8MultiArray>(large, large_size);
    const auto from = ok(gantry::cdr::view<UInt8MultiArray>(large_memory.get(), large_size));
    UInt8MultiArray::copy(ok(gantry::cdr::build<UInt8MultiArray>(memory.get(), size, small)), from);

    PointCloud2::Shape two, three;
    two.fields.resize(2);
    three.fields.resize(3);
    std::size_t two_size = 0, three_size = 0;
    const auto two_memory = built<PointCloud2>(two, two_size), three_memory = built<PointCloud2>(three, three_size);
    const auto clouds = ok(gantry::cdr::view<PointCloud2>(three_memory.get(), three_size));
    PointCloud2::copy(ok(gantry::cdr::build<PointCloud2>(two_memory.get(), two_size, two)), clouds);
}

int main() {
    lists();
    sequences();
    return 0;
}
