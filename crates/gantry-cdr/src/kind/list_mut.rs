//! A mutable iterator over the elements of a list in place.

use super::{Kind, Span};
use crate::{
    composer::Composer,
    cursor::Cursor,
    error::{Error, Problem, Result},
};
use core::{iter::FusedIterator, marker::PhantomData};

/// An iterator over the elements of a [`List`](super::List) or [`FixedList`](super::FixedList) in place. It allows
/// writing to the elements.
pub struct ListMut<'a, K> {
    /// The rest of the body, from the next element on.
    rest: &'a mut [u8],
    /// The number of elements that are left.
    left: u32,
    taken: u32,
    /// The field of the list and the type of its message, for the texts of errors.
    field: &'static str,
    type_name: &'static str,
    kind: PhantomData<K>,
}

impl<'a, K: Kind> ListMut<'a, K> {
    pub(super) fn new(body: &'a mut [u8], span: Span) -> ListMut<'a, K> {
        // The list has no elements if another process has changed the body so that it is too short for the list.
        let rest = body.get_mut(span.start as usize..).unwrap_or_default();
        ListMut { rest, left: span.count, taken: 0, field: "", type_name: "", kind: PhantomData }
    }

    /// Adds the field of the list and the type of its message, for the texts of errors. For generated code.
    #[doc(hidden)]
    #[inline]
    #[must_use]
    pub fn named(self, field: &'static str, type_name: &'static str) -> ListMut<'a, K> {
        ListMut { field, type_name, ..self }
    }

    /// The number of elements that are left.
    #[inline]
    #[must_use]
    pub fn len(&self) -> usize {
        self.left as usize
    }

    /// Whether no element is left.
    #[inline]
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.left == 0
    }

    /// Copies owned elements over the remaining elements. Each text and sequence in an element must have the length
    /// with which the message was built.
    ///
    /// # Errors
    /// The number of elements differs, or a text, sequence or list in an element has another length. Elements before
    /// the error are already copied.
    pub fn assign<'v>(
        &mut self,
        values: impl IntoIterator<Item = &'v K::Owned, IntoIter: ExactSizeIterator>,
    ) -> Result<()>
    where
        K::Owned: 'v,
    {
        let values = values.into_iter();
        let (length, expected) = (values.len(), self.len());
        if length != expected {
            return Err(self.error(Error::new(Problem::OtherLength { length, expected }, 0)));
        }
        for value in values {
            let index = self.taken as usize;
            let mut composer = Composer::overwriting(self.rest);
            let written = K::write(value, &mut composer).map(|()| composer.position());
            self.skip(written.map_err(|error| self.error(error.inside_element(index)))?);
        }
        Ok(())
    }

    /// Takes the next element, which has `length_bytes` bytes.
    #[inline]
    fn skip(&mut self, length_bytes: u32) -> &'a mut [u8] {
        let (element, rest) = core::mem::take(&mut self.rest).split_at_mut(length_bytes as usize);
        (self.rest, self.left, self.taken) = (rest, self.left - 1, self.taken + 1);
        element
    }

    #[cold]
    fn error(&self, error: Error) -> Error {
        error.inside(self.field).in_type(self.type_name)
    }
}

impl<'a, K: Kind> Iterator for ListMut<'a, K> {
    type Item = K::Mut<'a>;

    #[inline]
    fn next(&mut self) -> Option<K::Mut<'a>> {
        if self.left == 0 {
            return None;
        }
        let mut cursor = Cursor::over_checked(self.rest, 0);
        match K::locate(&mut cursor) {
            Ok(layout) => {
                let length_bytes = cursor.position();
                Some(K::get_mut(self.skip(length_bytes), layout))
            }
            // Another process has changed the bytes since they were checked.
            Err(_) => {
                self.left = 0;
                None
            }
        }
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (self.len(), Some(self.len()))
    }
}

impl<K: Kind> ExactSizeIterator for ListMut<'_, K> {}
impl<K: Kind> FusedIterator for ListMut<'_, K> {}
