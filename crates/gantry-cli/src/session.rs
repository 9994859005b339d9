//! The domain and the output of a command.

use crate::domain::Domain;
use gantry_command::{Output, Result};

/// The domain and the output, which all commands have.
#[derive(Clone, Copy, Debug)]
pub struct Session {
    pub domain_id: Option<u32>,
    pub output: Output,
}

impl Session {
    pub fn join(self) -> Result<Domain> {
        Domain::join(self.domain_id)
    }
}
