//! A number or a boolean.

use super::Kind;
use crate::{
    composer::Composer, cursor::Cursor, element::Element, error::Error, error::Result, input::Input, shape::Shape,
};
use core::marker::PhantomData;

/// A number or a `bool`.
pub struct Number<T>(PhantomData<T>);

impl<T: Element + Copy> Kind for Number<T> {
    type Owned = T;
    type Layout = u32;
    type Ref<'a> = T;
    type Mut<'a> = &'a mut T;

    #[inline]
    fn locate(cursor: &mut Cursor<'_>) -> Result<u32> {
        let start = cursor.take(size_of::<T>(), T::ALIGN)?;
        if T::CHECKED {
            T::check(cursor.bytes_from(start)).map_err(|problem| Error::new(problem, start as usize))?;
        }
        Ok(start)
    }

    #[inline]
    fn get(body: &[u8], layout: u32) -> T {
        *T::at(body, layout)
    }

    #[inline]
    fn get_mut(body: &mut [u8], layout: u32) -> &mut T {
        T::at_mut(body, layout)
    }

    #[inline]
    fn write(value: &T, composer: &mut Composer<'_>) -> Result<()> {
        composer.put(value, T::ALIGN).map(drop)
    }

    #[inline]
    fn read(value: &mut T, input: &mut Input<'_>) -> Result<()> {
        input.elements(core::slice::from_mut(value))
    }
}

impl<T: Element + Copy> Shape<Number<T>> for () {
    #[inline]
    fn compose(self, composer: &mut Composer<'_>) -> Result<u32> {
        composer.element::<T>()
    }
}
