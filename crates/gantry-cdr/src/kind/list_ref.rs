//! An iterator over the elements of a list in place.

use super::{Kind, Span};
use crate::cursor::Cursor;
use core::{fmt, iter::FusedIterator, marker::PhantomData};

/// The elements of a [`List`](super::List) or [`FixedList`](super::FixedList) in place. The value is an iterator, and
/// is `Copy`.
pub struct ListRef<'a, K> {
    body: &'a [u8],
    span: Span,
    kind: PhantomData<K>,
}

impl<'a, K: Kind> ListRef<'a, K> {
    #[inline]
    pub(super) fn new(body: &'a [u8], span: Span) -> ListRef<'a, K> {
        ListRef { body, span, kind: PhantomData }
    }

    /// The number of elements that are left.
    #[inline]
    #[must_use]
    pub fn len(&self) -> usize {
        self.span.count as usize
    }

    /// Whether no element is left.
    #[inline]
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.span.count == 0
    }

    /// The element at `index`. The call skips all elements before it, so its time grows with the index.
    #[must_use]
    pub fn get(&self, index: usize) -> Option<K::Ref<'a>> {
        self.iter().nth(index)
    }

    /// An iterator over the elements.
    #[must_use]
    pub fn iter(&self) -> ListRef<'a, K> {
        *self
    }
}

impl<K> Clone for ListRef<'_, K> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<K> Copy for ListRef<'_, K> {}

impl<'a, K: Kind> Iterator for ListRef<'a, K> {
    type Item = K::Ref<'a>;

    #[inline]
    fn next(&mut self) -> Option<K::Ref<'a>> {
        let layout = locate_next::<K>(self.body, &mut self.span)?;
        Some(K::get(self.body, layout))
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (self.len(), Some(self.len()))
    }
}

impl<K: Kind> ExactSizeIterator for ListRef<'_, K> {}
impl<K: Kind> FusedIterator for ListRef<'_, K> {}

impl<'a, K: Kind<Ref<'a>: fmt::Debug>> fmt::Debug for ListRef<'a, K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(*self).finish()
    }
}

/// Skips the first element and returns its layout. Returns `None` at the end, or if the bytes were changed after the
/// check.
#[inline]
fn locate_next<K: Kind>(body: &[u8], span: &mut Span) -> Option<K::Layout> {
    let count = span.count.checked_sub(1)?;
    let start = core::mem::replace(span, Span { start: span.start, count: 0 }).start;
    let mut cursor = Cursor::over_checked(body, start as usize);
    let layout = K::locate(&mut cursor).ok()?;
    *span = Span { start: cursor.position(), count };
    Some(layout)
}
