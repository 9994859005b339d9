// The files that dead processes of Fast DDS have left in shared memory.

#pragma once

// Removes the files of this user that no process has locked or mapped. The lock alone is not enough: a port that only
// publishers have opened has no lock, and the memory of data sharing has none either.
void remove_stale_files();
