//! The trait of shapes. A shape has the texts and lengths that determine the size of a field before it is built in
//! place.

use crate::{composer::Composer, error::Result, kind::Kind, message::FixedSize};

/// A shape of a field of the kind `K`, or of a message of the type `K`. It has the texts and the lengths of sequences,
/// which determine the size before the field or message is built in place.
///
/// | the field | its shape |
/// | --- | --- |
/// | a sequence of numbers, booleans or messages of fixed size | the number of elements |
/// | a text | a `&str` or any other `AsRef<str>` |
/// | a message with texts or sequences | its shape struct, such as `ImageShape` for an `Image` |
/// | a list of texts or of such messages | the shapes of its elements: a slice, an array, or an iterator |
/// | a field of fixed size | `()` |
///
/// An iterator of shapes must be `Clone`. Its shapes may contain iterators as well, so that a list of lists needs no
/// temporary `Vec`.
///
/// A shape is used twice, to count the bytes of the message and to build it, so it is cloned once. If a list is passed
/// by reference, such as `&shapes`, each message shape in it is cloned at each use. Cloning a `Vec` or a `String` in a
/// shape allocates; cloning a reference or an iterator over references does not. Texts in a list that is passed by
/// reference are not cloned.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a shape of a `{K}`",
    note = "the shape of a message `Image` is an `ImageShape`, the shape of a sequence of numbers its length, the shape of a text a `&str`",
    note = "the shape of a list is a slice or an array of its elements' shapes, or an iterator that is `Clone`"
)]
pub trait Shape<K: Kind>: Clone {
    /// Lays out a field with this shape. Allocates nothing.
    ///
    /// # Errors
    /// The memory is too short, or a length is above its bound.
    fn compose(self, composer: &mut Composer<'_>) -> Result<K::Layout>;
}

impl<T: FixedSize> Shape<T> for () {
    #[inline]
    fn compose(self, composer: &mut Composer<'_>) -> Result<T::Layout> {
        T::compose(composer)
    }
}
