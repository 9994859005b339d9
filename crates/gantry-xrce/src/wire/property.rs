//! Properties of a client or an agent: names and values. Unknown properties are ignored, even if their bytes are
//! not UTF-8.

use super::{Item, Reader, Writer};

/// A name and a value. They are bytes, not `str`: a microcontroller that only compares them does not need the code that
/// decodes UTF-8.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Property<'a> {
    /// The name.
    pub name: &'a [u8],
    /// The value.
    pub value: &'a [u8],
}

impl<'a> Item<'a> for Property<'a> {
    fn read(reader: &mut Reader<'a>) -> Self {
        Self { name: reader.text_bytes(), value: reader.text_bytes() }
    }

    fn write(&self, writer: &mut Writer<'_>) {
        writer.text_bytes(self.name);
        writer.text_bytes(self.value);
    }
}
