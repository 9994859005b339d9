//! Sequences and arrays of elements that are not plain: strings, and messages that contain strings, booleans or
//! sequences.
//!
//! The elements differ in length, so a reader has to skip two elements to find the third. The elements were checked
//! when the view was made.

use super::{Kind, ListMut, ListRef, Span, UNBOUNDED, check_bound};
use crate::{
    composer::Composer,
    cursor::Cursor,
    error::{Problem, Result},
    input::Input,
    shape::Shape,
};
use alloc::vec::Vec;
use core::marker::PhantomData;

/// A sequence of at most `BOUND` elements of the kind `K`, such as `string[] name`. Its shape yields a shape for each
/// element.
pub struct List<K, const BOUND: u32 = UNBOUNDED>(PhantomData<K>);

/// An array of `N` elements of the kind `K`. Its shape is an array of `N` shapes, or a reference to such an array.
pub struct FixedList<K, const N: usize>(PhantomData<K>);

#[inline]
fn locate<K: Kind>(cursor: &mut Cursor<'_>, length: usize) -> Result<Span> {
    let start = cursor.position();
    for index in 0..length {
        K::locate(cursor).map_err(|error| error.inside_element(index))?;
    }
    Ok(Span { start, count: length as u32 })
}

#[inline]
fn compose<K: Kind, S: Shape<K>>(composer: &mut Composer<'_>, shapes: impl Iterator<Item = S>) -> Result<Span> {
    let start = composer.position();
    let mut count = 0;
    for shape in shapes {
        shape.compose(composer).map_err(|error| error.inside_element(count))?;
        count += 1;
    }
    // Every element takes at least one byte, so the count fits in 32 bits like an offset.
    Ok(Span { start, count: count as u32 })
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
    type Ref<'a> = ListRef<'a, K>;
    type Mut<'a> = ListMut<'a, K>;

    #[inline]
    fn locate(cursor: &mut Cursor<'_>) -> Result<Span> {
        let length = cursor.length()?;
        check_bound(length, BOUND).map_err(|problem| cursor.error(problem))?;
        locate::<K>(cursor, length)
    }

    #[inline]
    fn get(body: &[u8], span: Span) -> ListRef<'_, K> {
        ListRef::new(body, span)
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

impl<K, I, const BOUND: u32> Shape<List<K, BOUND>> for I
where
    K: Kind<Owned: Default> + 'static,
    I: IntoIterator<Item: Shape<K>> + Clone,
{
    #[inline]
    fn compose(self, composer: &mut Composer<'_>) -> Result<Span> {
        let length_start = composer.reserve(4, 4)?;
        let span = compose::<K, _>(composer, self.into_iter())?;
        composer.length_at(length_start, span.count, BOUND)?;
        Ok(span)
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
    type Ref<'a> = ListRef<'a, K>;
    type Mut<'a> = ListMut<'a, K>;

    #[inline]
    fn locate(cursor: &mut Cursor<'_>) -> Result<Span> {
        locate::<K>(cursor, N)
    }

    #[inline]
    fn get(body: &[u8], span: Span) -> ListRef<'_, K> {
        ListRef::new(body, span)
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

impl<K: Kind + 'static, S: Shape<K>, const N: usize> Shape<FixedList<K, N>> for [S; N] {
    #[inline]
    fn compose(self, composer: &mut Composer<'_>) -> Result<Span> {
        compose::<K, _>(composer, self.into_iter())
    }
}

impl<'a, K: Kind + 'static, S, const N: usize> Shape<FixedList<K, N>> for &'a [S; N]
where
    &'a S: Shape<K>,
{
    #[inline]
    fn compose(self, composer: &mut Composer<'_>) -> Result<Span> {
        compose::<K, _>(composer, self.iter())
    }
}
