//! Texts: a length, the UTF-8 bytes, and a zero byte. The length counts the zero byte.

use super::{Item, Problem, Reader, Writer};

impl<'a> Reader<'a> {
    pub(super) fn text(&mut self) -> &'a str {
        self.align(4);
        let start = self.position();
        let bytes = self.text_bytes();
        core::str::from_utf8(bytes).unwrap_or_else(|_| {
            self.fail(start, Problem::NotText);
            ""
        })
    }

    /// The bytes of a text, without the zero byte at its end. The bytes may be invalid UTF-8.
    pub(super) fn text_bytes(&mut self) -> &'a [u8] {
        self.align(4);
        let start = self.position();
        match self.octets().split_last() {
            Some((0, text)) => text,
            Some(_) => {
                self.fail(start, Problem::NotText);
                &[]
            }
            // Some writers of CDR write an empty text without a zero byte.
            None => &[],
        }
    }
}

impl Writer<'_> {
    pub(super) fn text(&mut self, text: &str) {
        self.text_bytes(text.as_bytes());
    }

    pub(super) fn text_bytes(&mut self, text: &[u8]) {
        self.u32((text.len() as u32).wrapping_add(1));
        self.put(text);
        self.u8(0);
    }
}

impl<'a> Item<'a> for &'a [u8] {
    fn read(reader: &mut Reader<'a>) -> Self {
        reader.text_bytes()
    }

    fn write(&self, writer: &mut Writer<'_>) {
        writer.text_bytes(self);
    }
}
