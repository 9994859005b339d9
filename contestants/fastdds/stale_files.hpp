// The files of Fast DDS's dead processes in shared memory.

#pragma once

// Removes those of this user that no process uses.
void remove_stale_files();
