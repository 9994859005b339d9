//! A wide string: UTF-16, with four bytes for each UTF-16 unit.
//!
//! ROS 2's wire format of wide strings differs from CORBA and DDS-XTypes. It has the number of UTF-16 units, then each
//! unit as a `uint32`, without a terminating 0 (rosidl_typesupport_fastrtps, `serialization_helpers.hpp`;
//! rmw_cyclonedds, `Serialization.cpp`).

use super::{Kind, Span, UNBOUNDED, check_bound};
use crate::{
    composer::Composer,
    cursor::Cursor,
    element::Element,
    error::{Error, Problem, Result},
    input::Input,
    shape::Shape,
};
use alloc::string::String;
use core::fmt;

/// A wide string of at most `BOUND` UTF-16 units. Its shape is the text itself.
pub struct WideText<const BOUND: u32 = UNBOUNDED>;

/// A wide string in place.
#[derive(Clone, Copy)]
pub struct WideRef<'a>(&'a [u32]);

impl<'a> WideRef<'a> {
    /// The number of UTF-16 units.
    #[must_use]
    pub fn units(&self) -> usize {
        self.0.len()
    }

    /// The characters.
    pub fn chars(&self) -> impl Iterator<Item = char> + use<'a> {
        // The text was checked when the view was made, so replacement characters occur only if the bytes were changed
        // since.
        decode(self.0.iter().copied()).map(|char| char.unwrap_or(char::REPLACEMENT_CHARACTER))
    }
}

impl PartialEq<str> for WideRef<'_> {
    fn eq(&self, other: &str) -> bool {
        self.chars().eq(other.chars())
    }
}

impl fmt::Display for WideRef<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.chars().try_for_each(|char| fmt::Write::write_char(f, char))
    }
}

impl fmt::Debug for WideRef<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "\"{}\"", self.chars().flat_map(char::escape_debug).collect::<String>())
    }
}

impl<const BOUND: u32> Kind for WideText<BOUND> {
    type Owned = String;
    type Layout = Span;
    type Ref<'a> = WideRef<'a>;
    type Mut<'a> = WideRef<'a>;

    fn locate(cursor: &mut Cursor<'_>) -> Result<Span> {
        let count = cursor.length()?;
        let start = cursor.take(count.saturating_mul(4), 4)?;
        let error_at_start = |problem| Error::new(problem, start as usize);
        check_bound(count, BOUND).map_err(error_at_start)?;
        let units = cursor.bytes_from(start).as_chunks::<4>().0;
        let mut chars = decode(units.iter().map(|unit| u32::from_le_bytes(*unit)));
        if !cursor.is_checked && chars.any(|char| char.is_none()) {
            return Err(error_at_start(Problem::NotUtf16));
        }
        Ok(Span { start, count: count as u32 })
    }

    #[inline]
    fn get(body: &[u8], layout: Span) -> WideRef<'_> {
        WideRef(u32::slice(layout.bytes(body, 4)))
    }

    #[inline]
    fn get_mut(body: &mut [u8], layout: Span) -> WideRef<'_> {
        Self::get(body, layout)
    }

    fn write(value: &String, composer: &mut Composer<'_>) -> Result<()> {
        Shape::<Self>::compose(value.as_str(), composer).map(drop)
    }

    fn read(value: &mut String, input: &mut Input<'_>) -> Result<()> {
        let count = input.length(UNBOUNDED)?;
        let start = input.position();
        let error_at_start = |problem| Error::new(problem, start);
        let units = input.numbers(count)?;
        check_bound(count, BOUND).map_err(error_at_start)?;
        value.clear();
        for char in decode(units) {
            value.push(char.ok_or_else(|| error_at_start(Problem::NotUtf16))?);
        }
        Ok(())
    }
}

impl<S: AsRef<str> + Clone, const BOUND: u32> Shape<WideText<BOUND>> for S {
    fn compose(self, composer: &mut Composer<'_>) -> Result<Span> {
        let text = self.as_ref();
        let count = text.encode_utf16().count();
        check_bound(count, BOUND).map_err(|problem| composer.error(problem))?;
        let count = composer.length(count, UNBOUNDED)?;
        let start = composer.position();
        text.encode_utf16().try_for_each(|unit| composer.put(&u32::from(unit), 4).map(drop))?;
        Ok(Span { start, count })
    }
}

/// Decodes UTF-16. The iterator yields `None` for each unit that is not valid UTF-16.
fn decode(units: impl Iterator<Item = u32>) -> impl Iterator<Item = Option<char>> {
    // A number that is not a UTF-16 unit is replaced by an unpaired surrogate, which is an error as well.
    const NO_UNIT: u16 = 0xdfff;
    let units = units.map(|unit| u16::try_from(unit).unwrap_or(NO_UNIT));
    char::decode_utf16(units).map(core::result::Result::ok)
}
