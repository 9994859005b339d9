//! Messages whose memory is their CDR: structs of numbers.

use crate::{
    MAX_DEFAULT_BYTES,
    composer::Composer,
    copy::copy,
    cursor::Cursor,
    element::{Element, panic_moved},
    encapsulation::ByteOrder,
    error::{Error, Problem, Result},
    input::Input,
    kind::{Kind, Layout},
    message::{Message, aligned},
    view::View,
};
use alloc::boxed::Box;
use core::{
    fmt,
    marker::PhantomData,
    ops::{Deref, DerefMut},
};
use zerocopy::{FromBytes, FromZeros, Immutable, IntoBytes, KnownLayout};

/// A message whose memory is its CDR at any offset of a body ("plain" in DDS terms): a `#[repr(C)]` struct of numbers, arrays of
/// them and other plain messages, without padding, that begins with a number of its largest alignment.
///
/// The zerocopy derives check all of this except the beginning, which matters if the message is a field of another one. The trait is
/// generated for plain messages of `.msg` files. Implement it for a struct that has no such file:
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
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a message type",
    note = "compile its definition from a .msg file: `gantry_idl::compile(\"packages\")` in build.rs, as docs/guide/messages.md shows",
    note = "a #[repr(C)] struct of numbers without padding may implement `PlainMessage` by hand"
)]
pub trait PlainMessage: FromBytes + IntoBytes + KnownLayout + Immutable + Send + Sized + 'static {
    /// ROS 2's name of the type, as `geometry_msgs/msg/Point`.
    const TYPE_NAME: &'static str;
    /// The definition that both ends must agree on, as [`Message::DEFINITION`].
    const DEFINITION: &'static str;
    /// The RIHS01 hash of the definition. Zeros if it is not known; then the texts of the definitions are compared.
    const TYPE_HASH: [u8; 32] = [0; 32];

    /// Reverses the byte order of every number; `false` if the type does not support that.
    fn swap_bytes(&mut self) -> bool {
        false
    }

    /// Sets every field to its default, with which a message that is built in place starts; arrays of more than
    /// [`MAX_DEFAULT_BYTES`] keep their bytes. Not overridden: zeros, or nothing for a struct of more bytes.
    #[inline]
    fn set_defaults(&mut self) {
        zero_small(self);
    }
}

/// Fills a struct of up to [`MAX_DEFAULT_BYTES`] with zeros.
#[inline]
fn zero_small<T: FromZeros>(message: &mut T) {
    if size_of::<T>() <= MAX_DEFAULT_BYTES {
        message.zero();
    }
}

/// A struct whose memory is its CDR at the start of a body, though not at every offset: its first number may have a smaller alignment
/// than its largest one, as `uint8[1008] array` before `uint64 id`. Generated; every [`PlainMessage`] is one.
pub trait PlainBody: FromBytes + IntoBytes + KnownLayout + Immutable + Send + Sized + 'static {
    /// As [`PlainMessage::swap_bytes`].
    fn swap_bytes(&mut self) -> bool;

    /// As [`PlainMessage::set_defaults`].
    #[inline]
    fn set_defaults(&mut self) {
        zero_small(self);
    }
}

impl<T: PlainMessage> PlainBody for T {
    fn swap_bytes(&mut self) -> bool {
        PlainMessage::swap_bytes(self)
    }

    #[inline]
    fn set_defaults(&mut self) {
        PlainMessage::set_defaults(self);
    }
}

/// A [`PlainBody`] in place, in memory `B`. Derefs to the struct in that memory.
pub struct InPlace<T, B> {
    memory: B,
    message: PhantomData<T>,
}

impl<T: PlainBody, B: AsRef<[u8]>> Deref for InPlace<T, B> {
    type Target = T;

    #[inline]
    fn deref(&self) -> &T {
        T::ref_from_bytes(&self.memory.as_ref()[..size_of::<T>()]).unwrap_or_else(|_| panic_moved())
    }
}

impl<T: PlainBody, B: AsRef<[u8]> + AsMut<[u8]>> DerefMut for InPlace<T, B> {
    #[inline]
    fn deref_mut(&mut self) -> &mut T {
        T::mut_from_bytes(&mut self.memory.as_mut()[..size_of::<T>()]).unwrap_or_else(|_| panic_moved())
    }
}

impl<T: PlainBody + fmt::Debug, B: AsRef<[u8]>> fmt::Debug for InPlace<T, B> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        T::fmt(self, f)
    }
}

impl<T: PlainBody + Message + Kind<Layout: Default>, B: AsRef<[u8]>> View<B> for InPlace<T, B> {
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
    fn into_parts(self) -> (B, Layout<T>) {
        (self.memory, Layout::<T>::default())
    }

    fn to_message(&self) -> Result<Box<T>> {
        let mut message = T::new_box();
        copy(message.as_mut_bytes(), &self.memory.as_ref()[..size_of::<T>()]);
        Ok(message)
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
        composer.element::<T>()
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

    crate::plain_body!();
}

/// The items of [`Message`] for a [`PlainBody`], all by its bytes and none by its fields; for generated code.
#[doc(hidden)]
#[macro_export]
macro_rules! plain_body {
    () => {
        const MAX_BYTES: usize = ::core::mem::size_of::<Self>();
        type View<B_: ::core::convert::AsRef<[u8]>> = $crate::InPlace<Self, B_>;

        #[inline]
        fn in_memory<B_: ::core::convert::AsRef<[u8]>>(
            memory: B_,
            _: $crate::Layout<Self>,
        ) -> $crate::InPlace<Self, B_> {
            $crate::InPlace::new(memory)
        }

        fn new_box() -> $crate::alloc::boxed::Box<Self> {
            $crate::zeroed_box()
        }

        #[inline]
        fn view<B_: ::core::convert::AsRef<[u8]>>(memory: B_) -> $crate::Result<$crate::InPlace<Self, B_>> {
            $crate::InPlace::view(memory)
        }

        #[inline]
        fn shape_bytes((): ()) -> $crate::Result<usize> {
            Ok(::core::mem::size_of::<Self>())
        }

        #[inline]
        fn build<B_: ::core::convert::AsRef<[u8]> + ::core::convert::AsMut<[u8]>>(
            memory: B_,
            (): (),
        ) -> $crate::Result<$crate::InPlace<Self, B_>> {
            let mut message = $crate::InPlace::build(memory)?;
            $crate::PlainBody::set_defaults(&mut *message);
            ::core::result::Result::Ok(message)
        }

        #[inline]
        fn build_uninit<B_: ::core::convert::AsRef<[u8]> + ::core::convert::AsMut<[u8]>>(
            memory: B_,
            (): (),
        ) -> $crate::Result<$crate::InPlace<Self, B_>> {
            $crate::InPlace::build(memory)
        }

        #[inline]
        fn body_bytes(&self) -> $crate::Result<usize> {
            Ok(::core::mem::size_of::<Self>())
        }

        fn write_body(&self, body: &mut [u8]) -> $crate::Result<()> {
            $crate::write_plain(self, body)
        }

        #[inline]
        fn body_mut(&mut self) -> ::core::option::Option<&mut [u8]> {
            ::core::option::Option::Some($crate::plain_bytes(self))
        }

        fn read_body(&mut self, body: &[u8], order: $crate::ByteOrder) -> $crate::Result<()> {
            $crate::read_plain(self, body, order)
        }
    };
}

impl<T: PlainBody, B: AsRef<[u8]>> InPlace<T, B> {
    /// As [`Message::in_memory`].
    #[inline]
    #[doc(hidden)]
    pub fn new(memory: B) -> InPlace<T, B> {
        const { assert!(align_of::<T>() <= crate::BODY_ALIGN, "CDR has no alignment above 8") };
        InPlace { memory, message: PhantomData }
    }

    /// As [`Message::view`].
    #[inline]
    #[doc(hidden)]
    pub fn view(memory: B) -> Result<InPlace<T, B>> {
        let mut cursor = Cursor::new(aligned(memory.as_ref())?, 0)?;
        cursor.take(size_of::<T>(), 1)?;
        Ok(InPlace::new(memory))
    }

    /// As [`Message::build_uninit`].
    #[inline]
    #[doc(hidden)]
    pub fn build(memory: B) -> Result<InPlace<T, B>>
    where
        B: AsMut<[u8]>,
    {
        let body = aligned(memory.as_ref())?;
        match body.len().checked_sub(size_of::<T>()) {
            Some(0) => Ok(InPlace::new(memory)),
            Some(bytes) => Err(Error::new(Problem::TooLong { bytes }, size_of::<T>())),
            None => {
                let problem = Problem::TooShort { needed_bytes: size_of::<T>(), left_bytes: body.len() };
                Err(Error::new(problem, 0))
            }
        }
    }
}

/// As [`Message::write_body`].
#[doc(hidden)]
pub fn write_plain<T: PlainBody>(message: &T, body: &mut [u8]) -> Result<()> {
    Composer::writing(body, 0).put(message, 1).map(drop)
}

/// As [`Message::body_mut`].
#[doc(hidden)]
pub fn plain_bytes<T: PlainBody>(message: &mut T) -> &mut [u8] {
    message.as_mut_bytes()
}

/// As [`Message::read_body`].
#[doc(hidden)]
pub fn read_plain<T: PlainBody>(message: &mut T, body: &[u8], order: ByteOrder) -> Result<()> {
    let mut input = Input::new(body, 0, order);
    copy(message.as_mut_bytes(), input.take(size_of::<T>(), 1)?);
    if order == ByteOrder::BigEndian && !message.swap_bytes() {
        return Err(Error::new(Problem::OtherByteOrder, 0));
    }
    Ok(())
}

/// Zeros on the heap that never pass over the stack; for generated code.
#[doc(hidden)]
#[must_use]
pub fn zeroed_box<T: FromZeros>() -> Box<T> {
    // As `Box::new` does if the allocation fails.
    T::new_box_zeroed().unwrap_or_else(|_| alloc::alloc::handle_alloc_error(core::alloc::Layout::new::<T>()))
}
