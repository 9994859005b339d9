//! Properties of a client or an agent: names and values, of which unknown ones are ignored.

use super::{Item, Reader, Writer};

/// A name and a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Property<'a> {
    /// The name.
    pub name: &'a str,
    /// The value.
    pub value: &'a str,
}

impl<'a> Item<'a> for Property<'a> {
    fn read(reader: &mut Reader<'a>) -> Self {
        Self { name: reader.text(), value: reader.text() }
    }

    fn write(&self, writer: &mut Writer<'_>) {
        writer.text(self.name);
        writer.text(self.value);
    }
}
