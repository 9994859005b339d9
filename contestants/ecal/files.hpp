// The memory files of eCAL in /dev/shm.
#pragma once

// Removes the memory files of dead processes: the files of this user that no process has mapped.
void remove_dead_files();
