// The memory files of eCAL in /dev/shm.
#pragma once

// Removes those of dead processes: of this user, and mapped by no process.
void remove_dead_files();
