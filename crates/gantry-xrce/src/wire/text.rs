//! Texts: a length that counts a zero byte at the end, and UTF-8.

use super::{Item, Problem, Reader, Writer};

impl<'a> Reader<'a> {
    pub(super) fn text(&mut self) -> &'a str {
        self.align(4);
        let start = self.position();
        let bytes = self.octets();
        let text = match bytes.split_last() {
            Some((0, text)) => core::str::from_utf8(text).ok(),
            // Some writers of CDR give an empty text no zero byte.
            None => Some(""),
            Some(_) => None,
        };
        text.unwrap_or_else(|| {
            self.fail(start, Problem::NotText);
            ""
        })
    }
}

impl Writer<'_> {
    pub(super) fn text(&mut self, text: &str) {
        self.u32((text.len() as u32).wrapping_add(1));
        self.put(text.as_bytes());
        self.u8(0);
    }
}

impl<'a> Item<'a> for &'a str {
    fn read(reader: &mut Reader<'a>) -> Self {
        reader.text()
    }

    fn write(&self, writer: &mut Writer<'_>) {
        writer.text(self);
    }
}
