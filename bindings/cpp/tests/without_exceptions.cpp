// This file is compiled without exceptions, and linked with with_exceptions.cpp.
#include <gantry/result.hpp>

void end_without_exceptions();

void end_without_exceptions() { gantry::result<int>(gantry::error{GANTRY_ERROR, "no value"}).value(); }
