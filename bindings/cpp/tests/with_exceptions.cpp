// Tests a program whose files are compiled with and without exceptions: value() throws in the files with exceptions,
// and ends the program in the others.
#include "check.hpp"

#include <gantry/result.hpp>

#include <csignal>
#include <string>
#include <sys/wait.h>
#include <unistd.h>

void end_without_exceptions();

int main() {
    bool was_thrown = false;
    try {
        gantry::result<int>(gantry::error{GANTRY_ERROR, "no value"}).value();
    } catch (const gantry::exception &why) {
        was_thrown = std::string(why.what()) == "no value";
    }
    CHECK(was_thrown);
    const pid_t child = fork();
    if (child == 0) {
        end_without_exceptions();
        _exit(0);
    }
    int status = 0;
    CHECK(waitpid(child, &status, 0) == child && WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT);
    return 0;
}
