//! Sequences and arrays of elements that are not plain: strings, and messages that contain strings, booleans or sequences.
//!
//! The elements differ in length, so the third is found by skipping two. They were checked when the view was made.

use super::{Kind, Span, UNBOUNDED, check_bound};
use crate::{
    composer::Composer,
    cursor::Cursor,
    error::{Error, Problem, Result},
    input::Input,
};
use alloc::vec::Vec;
use core::{fmt, iter::FusedIterator, marker::PhantomData};

/// A sequence of at most `BOUND` elements of the kind `K`, as `string[] name`. Its shape has one shape for each element.
pub struct List<K, const BOUND: u32 = UNBOUNDED>(PhantomData<K>);

/// An array of `N` elements of the kind `K`.
pub struct FixedList<K, const N: usize>(PhantomData<K>);

/// The elements of a [`List`] or [`FixedList`] in place. It is an iterator and `Copy`.
pub struct ListRef<'a, K> {
    body: &'a [u8],
    span: Span,
    kind: PhantomData<K>,
}

/// The elements of a [`List`] or [`FixedList`] in place, to be written. It is an iterator.
pub struct ListMut<'a, K> {
    /// The body from the next element on.
    rest: &'a mut [u8],
    /// The number of elements that are left, and that were taken.
    left: u32,
    taken: u32,
    /// The list's field and the type of its message, for errors.
    field: &'static str,
    type_name: &'static str,
    kind: PhantomData<K>,
}

impl<'a, K: Kind> ListRef<'a, K> {
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

    /// The element at `index`. Skips the elements before it one by one.
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

impl<'a, K: Kind> ListMut<'a, K> {
    fn new(body: &'a mut [u8], span: Span) -> ListMut<'a, K> {
        // A body that was changed and does not contain the list any more has no elements.
        let rest = body.get_mut(span.start as usize..).unwrap_or_default();
        ListMut { rest, left: span.count, taken: 0, field: "", type_name: "", kind: PhantomData }
    }

    /// The list with the names of its field and of its message's type, for errors. For generated code.
    #[doc(hidden)]
    #[inline]
    #[must_use]
    pub fn of(self, field: &'static str, type_name: &'static str) -> ListMut<'a, K> {
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

    /// Copies owned elements over the elements that are left. Each must have the lengths that its element was built with.
    ///
    /// # Errors
    /// The number of elements differs; a text, sequence or list in an element has another length. All that was copied before the
    /// error stays.
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

    /// Takes the next `length_bytes`, which are an element.
    #[inline]
    fn skip(&mut self, length_bytes: u32) -> &'a mut [u8] {
        let (element, rest) = core::mem::take(&mut self.rest).split_at_mut(length_bytes as usize);
        (self.rest, self.left, self.taken) = (rest, self.left - 1, self.taken + 1);
        element
    }

    #[cold]
    fn error(&self, error: Error) -> Error {
        error.inside(self.field).of(self.type_name)
    }
}

impl<'a, K: Kind> Iterator for ListMut<'a, K> {
    type Item = K::Mut<'a>;

    #[inline]
    fn next(&mut self) -> Option<K::Mut<'a>> {
        if self.left == 0 {
            return None;
        }
        let mut cursor = Cursor::of_checked(self.rest, 0);
        match K::locate(&mut cursor) {
            Ok(layout) => {
                let length_bytes = cursor.position();
                Some(K::get_mut(self.skip(length_bytes), layout))
            }
            // The bytes were changed since the check.
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

/// Skips the first element and returns its layout; `None` at the end, or if the bytes were changed since the check.
#[inline]
fn locate_next<K: Kind>(body: &[u8], span: &mut Span) -> Option<K::Layout> {
    let count = span.count.checked_sub(1)?;
    let start = core::mem::replace(span, Span { start: span.start, count: 0 }).start;
    let mut cursor = Cursor::of_checked(body, start as usize);
    let layout = K::locate(&mut cursor).ok()?;
    *span = Span { start: cursor.position(), count };
    Some(layout)
}

#[inline]
fn locate<K: Kind>(cursor: &mut Cursor<'_>, length: usize) -> Result<Span> {
    let start = cursor.position();
    for index in 0..length {
        K::locate(cursor).map_err(|error| error.inside_element(index))?;
    }
    Ok(Span { start, count: length as u32 })
}

#[inline]
fn compose<K: Kind>(composer: &mut Composer<'_>, shapes: &[K::Shape<'_>]) -> Result<Span> {
    let start = composer.position();
    for (index, shape) in shapes.iter().enumerate() {
        K::compose(composer, *shape).map_err(|error| error.inside_element(index))?;
    }
    Ok(Span { start, count: shapes.len() as u32 })
}

fn write<K: Kind>(values: &[K::Owned], composer: &mut Composer<'_>) -> Result<()> {
    for (index, value) in values.iter().enumerate() {
        K::write(value, composer).map_err(|error| error.inside_element(index))?;
    }
    Ok(())
}

impl<K: Kind<Owned: Default> + 'static, const BOUND: u32> Kind for List<K, BOUND> {
    type Owned = Vec<K::Owned>;
    type Layout = Span;
    type Shape<'a> = &'a [K::Shape<'a>];
    type Ref<'a> = ListRef<'a, K>;
    type Mut<'a> = ListMut<'a, K>;

    #[inline]
    fn locate(cursor: &mut Cursor<'_>) -> Result<Span> {
        let length = cursor.length()?;
        check_bound(length, BOUND).map_err(|problem| cursor.error(problem))?;
        locate::<K>(cursor, length)
    }

    #[inline]
    fn compose(composer: &mut Composer<'_>, shapes: &[K::Shape<'_>]) -> Result<Span> {
        composer.length(shapes.len(), BOUND)?;
        compose::<K>(composer, shapes)
    }

    #[inline]
    fn get(body: &[u8], span: Span) -> ListRef<'_, K> {
        ListRef { body, span, kind: PhantomData }
    }

    #[inline]
    fn get_mut(body: &mut [u8], span: Span) -> ListMut<'_, K> {
        ListMut::new(body, span)
    }

    fn write(values: &Vec<K::Owned>, composer: &mut Composer<'_>) -> Result<()> {
        composer.length(values.len(), BOUND)?;
        write::<K>(values, composer)
    }

    fn read(values: &mut Vec<K::Owned>, input: &mut Input<'_>) -> Result<()> {
        let length = input.length(BOUND)?;
        let left_bytes = input.left_bytes();
        if length > left_bytes {
            return Err(input.error(Problem::TooShort { needed_bytes: length, left_bytes }));
        }
        values.truncate(length);
        for index in 0..length {
            if index == values.len() {
                values.push(K::Owned::default());
            }
            K::read(&mut values[index], input).map_err(|error| error.inside_element(index))?;
        }
        Ok(())
    }
}

impl<K, const N: usize> FixedList<K, N> {
    /// The layout of an array whose first element begins at `start`, or after padding there. For generated code.
    #[doc(hidden)]
    #[inline]
    #[must_use]
    pub fn at(start: u32) -> Span {
        Span { start, count: N as u32 }
    }
}

impl<K: Kind + 'static, const N: usize> Kind for FixedList<K, N> {
    type Owned = [K::Owned; N];
    type Layout = Span;
    type Shape<'a> = &'a [K::Shape<'a>; N];
    type Ref<'a> = ListRef<'a, K>;
    type Mut<'a> = ListMut<'a, K>;

    #[inline]
    fn locate(cursor: &mut Cursor<'_>) -> Result<Span> {
        locate::<K>(cursor, N)
    }

    #[inline]
    fn compose(composer: &mut Composer<'_>, shapes: &[K::Shape<'_>; N]) -> Result<Span> {
        compose::<K>(composer, shapes)
    }

    #[inline]
    fn get(body: &[u8], span: Span) -> ListRef<'_, K> {
        ListRef { body, span, kind: PhantomData }
    }

    #[inline]
    fn get_mut(body: &mut [u8], span: Span) -> ListMut<'_, K> {
        ListMut::new(body, span)
    }

    fn write(values: &[K::Owned; N], composer: &mut Composer<'_>) -> Result<()> {
        write::<K>(values, composer)
    }

    fn read(values: &mut [K::Owned; N], input: &mut Input<'_>) -> Result<()> {
        for (index, value) in values.iter_mut().enumerate() {
            K::read(value, input).map_err(|error| error.inside_element(index))?;
        }
        Ok(())
    }
}
