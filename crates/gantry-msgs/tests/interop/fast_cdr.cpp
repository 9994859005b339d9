// Reads the messages in a directory with the types of fastddsgen, and writes each message to a new file: TYPE.K.le.cdr
// to TYPE.K.le.fast.cdr, and rust.cdr to rust.fast.cdr. `types.inc` has a line `CHECK(TYPE, C++ type)` for each type.

#include <fastcdr/Cdr.h>
#include <fastcdr/FastBuffer.h>

#include <filesystem>
#include <fstream>
#include <iostream>
#include <memory>
#include <string>
#include <vector>

#include "types.h"

using eprosima::fastcdr::Cdr;
using eprosima::fastcdr::FastBuffer;

template <class T>
std::vector<char> again(std::vector<char>& data)
{
    // The message is on the heap, because some types are larger than the stack.
    auto message = std::make_unique<T>();
    FastBuffer input(data.data(), data.size());
    Cdr reader(input, Cdr::DEFAULT_ENDIAN, Cdr::DDS_CDR);
    reader.read_encapsulation();
    message->deserialize(reader);
    // Fast CDR does not write padding, so the buffer is zeroed first. If the written message is longer than the read
    // one, Fast CDR throws an exception.
    std::vector<char> written(data.size());
    FastBuffer output(written.data(), written.size());
    Cdr writer(output, reader.endianness(), Cdr::DDS_CDR);
    writer.serialize_encapsulation();
    message->serialize(writer);
    written.resize(writer.getSerializedDataLength());
    return written;
}

template <class T>
void check(const std::string& stem)
{
    for (const char* end : {"le", "rust"}) {
        for (int number = 0;; number++) {
            const std::string path = stem + "." + std::to_string(number) + "." + end;
            std::ifstream file(path + ".cdr", std::ios::binary);
            if (!file) {
                break;
            }
            std::vector<char> data(std::filesystem::file_size(path + ".cdr"));
            file.read(data.data(), data.size());
            try {
                const std::vector<char> written = again<T>(data);
                std::ofstream(path + ".fast.cdr", std::ios::binary).write(written.data(), written.size());
            } catch (const std::exception& error) {
                std::cerr << path << ".cdr: " << error.what() << '\n';
            }
        }
    }
}

int main(int, char** arguments)
{
    const std::string directory = arguments[1];
#define CHECK(stem, type) check<type>(directory + "/" + #stem);
#include "types.inc"
}
