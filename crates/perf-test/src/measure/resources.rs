//! Resources of a process: CPU time and the other accounts of the kernel, and resident memory.

use serde::{Deserialize, Serialize};

use super::{memory::Memory, usage::Usage};

/// Resources of a process: its usage so far and its memory now.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Resources {
    /// The kernel's accounts.
    pub usage: Usage,
    /// Resident memory.
    pub memory: Memory,
}

impl Resources {
    /// Those of this process.
    ///
    /// # Errors
    /// A sentence, if the kernel does not tell.
    pub fn of_this_process() -> Result<Resources, String> {
        Ok(Resources { usage: Usage::of_this_process()?, memory: Memory::of_this_process()? })
    }
}
