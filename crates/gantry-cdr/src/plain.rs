//! Plain messages: structs of numbers, whose bytes in memory are their CDR.

use crate::{
    composer::Composer,
    cursor::Cursor,
    element::Element,
    error::Result,
    input::Input,
    kind::Kind,
    message::{FixedSize, Message},
    plain_body::zero_small,
};
use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout};

/// A message whose memory is its CDR at any offset of a body ("plain" in DDS terms). It is a `#[repr(C)]` struct of
/// numbers, arrays of numbers and other plain messages, without padding. Its first number must have the largest
/// alignment of the struct.
///
/// The zerocopy derives check these conditions, except for the first number. That condition matters only if the message
/// is a field of another message. The trait is generated for plain messages of `.msg` files. Implement it by hand for a
/// struct that has no such file:
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
    /// ROS 2's name of the type, such as `geometry_msgs/msg/Point`.
    const TYPE_NAME: &'static str;
    /// The definition on which both ends must agree. [`Message::DEFINITION`] has the same form.
    const DEFINITION: &'static str;
    /// The RIHS01 hash of the definition; zeros if it is not known. Unknown hashes are not compared; the texts of the
    /// definitions are compared instead.
    const TYPE_HASH: [u8; 32] = [0; 32];

    /// Reverses the byte order of each number. Returns `false` if the type does not support this.
    fn swap_bytes(&mut self) -> bool {
        false
    }

    /// Sets every field to its default value, as when a message is built in place. Arrays of more than
    /// [`MAX_DEFAULT_BYTES`](crate::MAX_DEFAULT_BYTES) bytes keep their old bytes. The provided method writes zeros, or
    /// nothing if the whole struct has more than this number of bytes.
    #[inline]
    fn set_defaults(&mut self) {
        zero_small(self);
    }
}

impl<T: PlainMessage> Kind for T {
    type Owned = T;
    type Layout = u32;
    type Ref<'a> = &'a T;
    type Mut<'a> = &'a mut T;

    #[inline]
    fn locate(cursor: &mut Cursor<'_>) -> Result<u32> {
        cursor.take(size_of::<T>(), align_of::<T>())
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

impl<T: PlainMessage> FixedSize for T {
    #[inline]
    fn compose(composer: &mut Composer<'_>) -> Result<u32> {
        composer.element::<T>()
    }
}
