//! Messages whose memory is their CDR: structs of numbers.

use crate::{
    composer::Composer,
    cursor::Cursor,
    element::Element,
    error::Result,
    input::Input,
    kind::Kind,
    message::{Message, View, read_at},
};
use alloc::boxed::Box;
use core::{
    fmt,
    marker::PhantomData,
    ops::{Deref, DerefMut},
};
use zerocopy::{FromBytes, FromZeros, Immutable, IntoBytes, KnownLayout};

/// A message whose CDR is its memory, wherever it stands ("plain" in DDS terms): a `#[repr(C)]` struct of numbers, arrays of them
/// and other plain messages, without padding, that begins with a number of its largest alignment.
///
/// The zerocopy derives check all of it but the beginning, which matters where the message is a field of another one. Generated
/// for what is plain in `.msg` files; implement it for a struct that has no such file:
///
/// ```
/// use gantry_cdr::{PlainMessage, zerocopy::*};
///
/// #[derive(FromBytes, IntoBytes, KnownLayout, Immutable)]
/// #[zerocopy(crate = "gantry_cdr::zerocopy")] // or a dependency on `zerocopy`
/// #[repr(C)]
/// struct Twist {
///     linear_m_per_s: [f64; 3],
///     angular_rad_per_s: [f64; 3],
/// }
///
/// impl PlainMessage for Twist {
///     const TYPE_NAME: &'static str = "my_robot/msg/Twist";
///     const DEFINITION: &'static str = "float64[3] linear_m_per_s\nfloat64[3] angular_rad_per_s\n";
/// }
/// ```
pub trait PlainMessage: FromBytes + IntoBytes + KnownLayout + Immutable + Send + 'static {
    /// ROS 2's name of the type, as `geometry_msgs/msg/Point`.
    const TYPE_NAME: &'static str;
    /// The definition that both ends must agree on, as [`Message::DEFINITION`].
    const DEFINITION: &'static str;
    /// The RIHS01 hash of the definition; zeros if it is not known, and then the definition's text is compared.
    const TYPE_HASH: [u8; 32] = [0; 32];

    /// Turns every number's bytes around; `false` if it cannot.
    fn swap_bytes(&mut self) -> bool {
        false
    }
}

/// A [`PlainMessage`] in place, in memory `B`. Derefs to the struct, in its memory.
pub struct InPlace<T, B> {
    memory: B,
    message: PhantomData<T>,
}

impl<T: PlainMessage, B: AsRef<[u8]>> Deref for InPlace<T, B> {
    type Target = T;

    #[inline]
    fn deref(&self) -> &T {
        T::at(self.memory.as_ref(), 0)
    }
}

impl<T: PlainMessage, B: AsRef<[u8]> + AsMut<[u8]>> DerefMut for InPlace<T, B> {
    #[inline]
    fn deref_mut(&mut self) -> &mut T {
        T::at_mut(self.memory.as_mut(), 0)
    }
}

impl<T: PlainMessage + fmt::Debug, B: AsRef<[u8]>> fmt::Debug for InPlace<T, B> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        T::fmt(self, f)
    }
}

impl<T: PlainMessage, B: AsRef<[u8]>> View<B> for InPlace<T, B> {
    type Message = T;
    type Target = T;

    #[inline]
    fn target(&self) -> &T {
        self
    }

    #[inline]
    fn target_mut(&mut self) -> &mut T
    where
        B: AsMut<[u8]>,
    {
        self
    }

    #[inline]
    fn memory(&self) -> &B {
        &self.memory
    }

    #[inline]
    fn into_parts(self) -> (B, u32) {
        (self.memory, 0)
    }

    fn to_message(&self) -> Result<Box<T>> {
        read_at(self.memory.as_ref(), 0)
    }
}

impl<T: PlainMessage> Kind for T {
    type Owned = T;
    type Layout = u32;
    type Shape<'a> = ();
    type Ref<'a> = &'a T;
    type Mut<'a> = &'a mut T;

    #[inline]
    fn locate(cursor: &mut Cursor<'_>) -> Result<u32> {
        cursor.take(size_of::<T>(), align_of::<T>())
    }

    #[inline]
    fn compose(composer: &mut Composer<'_>, (): ()) -> Result<u32> {
        composer.reserve(size_of::<T>(), align_of::<T>())
    }

    #[inline]
    fn get(body: &[u8], layout: u32) -> &T {
        T::at(body, layout)
    }

    #[inline]
    fn get_mut(body: &mut [u8], layout: u32) -> &mut T {
        T::at_mut(body, layout)
    }

    #[inline]
    fn write(value: &T, composer: &mut Composer<'_>) -> Result<()> {
        composer.put(value, align_of::<T>()).map(drop)
    }

    #[inline]
    fn read(value: &mut T, input: &mut Input<'_>) -> Result<()> {
        input.elements(core::slice::from_mut(value))
    }
}

impl<T: PlainMessage> Message for T {
    const TYPE_NAME: &'static str = T::TYPE_NAME;
    const DEFINITION: &'static str = T::DEFINITION;
    const TYPE_HASH: [u8; 32] = T::TYPE_HASH;
    const MAX_BYTES: usize = size_of::<T>();
    type View<B: AsRef<[u8]>> = InPlace<T, B>;

    #[inline]
    fn in_memory<B: AsRef<[u8]>>(memory: B, _: u32) -> InPlace<T, B> {
        const { assert!(align_of::<T>() <= crate::BODY_ALIGN, "CDR has no alignment above 8") };
        InPlace { memory, message: PhantomData }
    }

    fn new_box() -> Box<T> {
        zeroed_box()
    }
}

/// Zeros on the heap, without a detour over the stack; for generated code.
#[doc(hidden)]
#[must_use]
pub fn zeroed_box<T: FromZeros>() -> Box<T> {
    // As `Box::new` does when there is no memory.
    T::new_box_zeroed().unwrap_or_else(|_| alloc::alloc::handle_alloc_error(core::alloc::Layout::new::<T>()))
}
