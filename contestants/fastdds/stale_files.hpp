// The files of Fast DDS's dead processes in shared memory.

#pragma once

// Removes the files of this user that no process has locked or mapped. The lock alone does not decide: a port that only
// publishers have opened has no lock, nor has the memory of data sharing.
void remove_stale_files();
