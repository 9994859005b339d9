// The message types of both layouts, as the build has generated them.

#include "message_type.hpp"

#include <layout_1x/layout_1x.h>
#include <layout_2x/layout_2x.h>

#include "generated_message.hpp"
#include "raw_message.hpp"

namespace {

using Create = std::unique_ptr<MessageType> (*)(const perf_test_message &);

struct Entry {
    const char *layout;
    const char *name;
    Create create;
};

template <class T> std::unique_ptr<MessageType> create(const perf_test_message &message) {
    return std::make_unique<GeneratedMessage<T>>(message);
}

#define ENTRY(LAYOUT, MODULE, PACKAGE, NAME) {LAYOUT, #NAME, create<MODULE::PACKAGE::msg::dds_::NAME##_>},
const Entry ENTRIES[] = {
#define MESSAGE(PACKAGE, NAME) ENTRY("1.x", layout_1x, PACKAGE, NAME)
#include <layout_1x/layout_1x.inc>
#undef MESSAGE
#define MESSAGE(PACKAGE, NAME) ENTRY("2.x", layout_2x, PACKAGE, NAME)
#include <layout_2x/layout_2x.inc>
#undef MESSAGE
};

} // namespace

std::unique_ptr<MessageType> MessageType::find(const perf_test_message &message, bool raw) {
    if (raw) return std::make_unique<RawMessage>(message);
    for (const Entry &entry : ENTRIES) {
        if (strcmp(entry.layout, message.layout) == 0 && strcmp(entry.name, message.name) == 0)
            return entry.create(message);
    }
    return nullptr;
}
