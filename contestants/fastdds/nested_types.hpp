// The functions by which Fast CDR 2 serialises a field whose type is a class. Debian's fastddsgen, made for Fast CDR 1,
// writes only member functions, so the build includes this file before the generated code.

#pragma once

#include <fastcdr/Cdr.h>

namespace eprosima::fastcdr {

template <class T> void serialize(Cdr &cdr, const T &field) { field.serialize(cdr); }

template <class T> void deserialize(Cdr &cdr, T &field) { field.deserialize(cdr); }

} // namespace eprosima::fastcdr
