//! A string. In place, it is UTF-8 in a `str`.

use super::{Kind, Span, UNBOUNDED, check_bound};
use crate::{
    composer::Composer,
    cursor::Cursor,
    error::{Error, Problem, Result},
    input::Input,
    shape::Shape,
};
use alloc::string::String;

/// A string of at most `BOUND` bytes. Its shape is the text itself, so its length is fixed when the message is built.
///
/// In CDR, a string consists of its length including the terminating 0, its bytes, and the 0. A length of 0 is accepted
/// as an empty string, because some implementations write empty strings in this way.
pub struct Text<const BOUND: u32 = UNBOUNDED>;

impl<const BOUND: u32> Kind for Text<BOUND> {
    type Owned = String;
    type Layout = Span;
    type Ref<'a> = &'a str;
    type Mut<'a> = &'a mut str;

    #[inline(always)]
    fn locate(cursor: &mut Cursor<'_>) -> Result<Span> {
        let length = cursor.length()?;
        let start = cursor.take(length, 1)?;
        let error_at_start = |problem| Error::new(problem, start as usize);
        let bytes = without_terminator(cursor.bytes_from(start)).map_err(error_at_start)?;
        check_bound(bytes.len(), BOUND).map_err(error_at_start)?;
        if !cursor.is_checked && !is_utf8(bytes) {
            return Err(error_at_start(Problem::NotUtf8));
        }
        Ok(Span { start, count: bytes.len() as u32 })
    }

    #[inline]
    fn get(body: &[u8], layout: Span) -> &str {
        // The text was checked when the view was made. If another process has changed the bytes since and they are not
        // UTF-8, the result is empty.
        core::str::from_utf8(layout.bytes(body, 1)).unwrap_or_default()
    }

    #[inline]
    fn get_mut(body: &mut [u8], layout: Span) -> &mut str {
        core::str::from_utf8_mut(layout.bytes_mut(body, 1)).unwrap_or_default()
    }

    fn write(value: &String, composer: &mut Composer<'_>) -> Result<()> {
        Shape::<Self>::compose(value.as_str(), composer).map(drop)
    }

    fn read(value: &mut String, input: &mut Input<'_>) -> Result<()> {
        let length = input.length(UNBOUNDED)?;
        let start = input.position();
        let error_at_start = |problem| Error::new(problem, start);
        let bytes = without_terminator(input.take(length, 1)?).map_err(error_at_start)?;
        check_bound(bytes.len(), BOUND).map_err(error_at_start)?;
        // The bytes are copied before the check, because another process may change them meanwhile.
        let mut copy = core::mem::take(value).into_bytes();
        copy.clear();
        copy.extend_from_slice(bytes);
        *value = String::from_utf8(copy).map_err(|_| error_at_start(Problem::NotUtf8))?;
        Ok(())
    }
}

impl<S: AsRef<str> + Clone, const BOUND: u32> Shape<Text<BOUND>> for S {
    #[inline(always)]
    fn compose(self, composer: &mut Composer<'_>) -> Result<Span> {
        let text = self.as_ref();
        let count = composer.length_with(text.len(), BOUND, 1)?;
        Ok(Span { start: composer.text(text)?, count })
    }
}

/// Whether a text is UTF-8. ASCII text, the usual case for names, is recognised without a function call.
#[inline]
fn is_utf8(bytes: &[u8]) -> bool {
    bytes.iter().fold(0, |all, byte| all | byte) < 0x80 || core::str::from_utf8(bytes).is_ok()
}

/// The bytes before the terminating 0.
#[inline]
fn without_terminator(bytes: &[u8]) -> core::result::Result<&[u8], Problem> {
    match bytes {
        [] => Ok(bytes),
        [text @ .., 0] => Ok(text),
        _ => Err(Problem::NotTerminated),
    }
}
