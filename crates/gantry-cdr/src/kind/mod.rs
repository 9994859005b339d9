//! The kinds of fields: the bytes of a field in a body, and the way in which it is found, viewed, written and
//! read. A [`Shape`](crate::Shape) builds fields.
//!
//! Generated code names only the kind of each field. A [`PlainMessage`](crate::PlainMessage) is a kind, and so is
//! every generated message, for fields of its type.

mod array;
mod list;
mod list_mut;
mod list_ref;
mod number;
mod slice;
mod text;
mod wide_text;

pub use array::{Array, BoxedArray};
pub use list::{FixedList, List};
pub use list_mut::ListMut;
pub use list_ref::ListRef;
pub use number::Number;
pub use slice::Slice;
pub use text::Text;
pub use wide_text::{WideRef, WideText};

use crate::{
    aligned::BODY_ALIGN,
    composer::Composer,
    cursor::Cursor,
    error::{Problem, Result},
    input::Input,
};
use core::fmt::Debug;

/// The layout of a kind of field.
pub type Layout<K> = <K as Kind>::Layout;

/// The value of `BOUND` for sequences and texts without a bound.
pub const UNBOUNDED: u32 = u32::MAX;

/// A kind of field.
pub trait Kind {
    /// The type of the field in an owned message.
    type Owned;
    /// The position of the field in its body.
    type Layout: Copy + Debug + PartialEq;
    /// The field read in place.
    type Ref<'a>;
    /// The field written in place.
    type Mut<'a>;

    /// Finds the field at the cursor, checks it and skips it.
    ///
    /// # Errors
    /// The bytes are not a valid field of this kind.
    fn locate(cursor: &mut Cursor<'_>) -> Result<Self::Layout>;
    /// The field in `body`. The body must have the bytes in which `layout` was found.
    fn get(body: &[u8], layout: Self::Layout) -> Self::Ref<'_>;
    /// As [`Kind::get`], to write to.
    fn get_mut(body: &mut [u8], layout: Self::Layout) -> Self::Mut<'_>;
    /// Serialises an owned field.
    ///
    /// # Errors
    /// The memory is too short, or a length is above its bound.
    fn write(value: &Self::Owned, composer: &mut Composer<'_>) -> Result<()>;
    /// Reads the field into the owned field `value`, and reuses its allocation.
    ///
    /// # Errors
    /// As [`Kind::locate`].
    fn read(value: &mut Self::Owned, input: &mut Input<'_>) -> Result<()>;
}

/// The offset of a field in a fixed-size message that begins at `start` of `part`, a part of a body. All padding
/// depends on the position of the message in the body modulo 8: `offsets` has the distance of the field from
/// `start` for each of the eight residues. For generated code.
#[doc(hidden)]
#[inline]
#[must_use]
pub fn field_offset(part: &[u8], start: u32, offsets: &[u32; BODY_ALIGN]) -> u32 {
    start + offsets[(start as usize + phase(part)) % BODY_ALIGN]
}

/// The position of a part in its body, modulo 8. It is equal to the address modulo 8, because a body in place is
/// 8-byte aligned.
#[inline]
pub(crate) fn phase(part: &[u8]) -> usize {
    part.as_ptr().addr() % BODY_ALIGN
}

/// The next multiple of `align` in the body, for an offset in a part of the body with this phase.
#[inline(always)]
pub(crate) fn align_up(offset: usize, phase: usize, align: usize) -> usize {
    (offset + phase).next_multiple_of(align) - phase
}

/// The position of a list's elements or a text's characters in the body.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Span {
    start: u32,
    count: u32,
}

impl Span {
    /// The bytes of the elements, which have this size; an empty slice if `body` was changed and does not contain
    /// them any more.
    #[inline]
    fn bytes(self, body: &[u8], element_bytes: usize) -> &[u8] {
        let start = self.start as usize;
        body.get(start..start + self.count as usize * element_bytes).unwrap_or_default()
    }

    /// As [`Span::bytes`].
    #[inline]
    fn bytes_mut(self, body: &mut [u8], element_bytes: usize) -> &mut [u8] {
        let start = self.start as usize;
        body.get_mut(start..start + self.count as usize * element_bytes).unwrap_or_default()
    }
}

/// Refuses a sequence or text that is longer than its bound.
#[inline]
pub(crate) fn check_bound(length: usize, bound: u32) -> core::result::Result<(), Problem> {
    if length <= bound as usize { Ok(()) } else { Err(Problem::AboveBound { length, bound: bound as usize }) }
}
