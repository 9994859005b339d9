//! How many bytes a message takes, and whether it is a plain struct.

use crate::definitions::Definitions;
use crate::name::TypeName;

impl Definitions {
    /// The greatest size of the message's serialised body in bytes (XCDR1, without the encapsulation header), if there is
    /// one.
    pub fn max_size_bytes(&self, _name: &TypeName) -> Option<usize> {
        todo!()
    }

    /// Whether the message's bytes are those of a C struct with the same fields, wherever it stands in another message.
    pub fn is_plain(&self, _name: &TypeName) -> bool {
        todo!()
    }
}
