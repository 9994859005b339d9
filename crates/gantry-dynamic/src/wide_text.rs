//! A `wstring` in place, in either byte order: UTF-16 with four bytes for each unit, as in ROS 2's wire format.

use gantry_cdr::ByteOrder;
use std::fmt::{self, Write};

/// The text of a `wstring`, in place.
#[derive(Clone, Copy)]
pub struct WideText<'a> {
    units: &'a [[u8; 4]],
    order: ByteOrder,
}

impl<'a> WideText<'a> {
    /// Makes a text of `bytes`; `None` if they are not UTF-16.
    pub(crate) fn new(bytes: &'a [u8], order: ByteOrder) -> Option<Self> {
        let text = Self { units: bytes.as_chunks().0, order };
        text.decode().all(|char| char.is_some()).then_some(text)
    }

    /// The number of UTF-16 units.
    pub fn units(&self) -> usize {
        self.units.len()
    }

    /// The characters.
    pub fn chars(&self) -> impl Iterator<Item = char> + Clone + use<'a> {
        // The text was checked when the view was made, so replacement characters occur only if the bytes were changed
        // since.
        self.decode().map(|char| char.unwrap_or(char::REPLACEMENT_CHARACTER))
    }

    fn decode(&self) -> impl Iterator<Item = Option<char>> + Clone + use<'a> {
        // A number that is not a UTF-16 unit is replaced by an unpaired surrogate, which is an error as well.
        const NO_UNIT: u16 = 0xdfff;
        let order = self.order;
        let units = self.units.iter().map(move |bytes| {
            let unit = match order {
                ByteOrder::LittleEndian => u32::from_le_bytes(*bytes),
                ByteOrder::BigEndian => u32::from_be_bytes(*bytes),
            };
            u16::try_from(unit).unwrap_or(NO_UNIT)
        });
        char::decode_utf16(units).map(Result::ok)
    }
}

impl PartialEq<str> for WideText<'_> {
    fn eq(&self, other: &str) -> bool {
        self.chars().eq(other.chars())
    }
}

impl fmt::Display for WideText<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.chars().try_for_each(|char| f.write_char(char))
    }
}

impl fmt::Debug for WideText<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_char('"')?;
        self.chars().flat_map(char::escape_debug).try_for_each(|char| f.write_char(char))?;
        f.write_char('"')
    }
}
