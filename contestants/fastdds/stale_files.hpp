// The files of Fast DDS's dead processes in shared memory.

#pragma once

// Removes those of this user that no process has locked or mapped. A port has no lock if only publishers have opened
// it, and the memory of data sharing has none.
void remove_stale_files();
