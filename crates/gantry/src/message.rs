//! What a message type must be to travel in place.

use gantry_shm::TypeDescription;
use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout};

/// A fixed-size message whose bytes in memory are its bytes on the wire ("plain" in DDS terms): a `#[repr(C)]` struct of
/// numbers and arrays of them, without padding. The zerocopy derives check that.
///
/// ```
/// use gantry::{Message, zerocopy::*};
///
/// #[derive(FromBytes, IntoBytes, KnownLayout, Immutable)]
/// #[repr(C)]
/// struct Twist {
///     linear_m_per_s: [f64; 3],
///     angular_rad_per_s: [f64; 3],
/// }
///
/// impl Message for Twist {
///     const TYPE_NAME: &'static str = "my_robot/msg/Twist";
///     const DEFINITION: &'static str = "float64[3] linear_m_per_s\nfloat64[3] angular_rad_per_s";
/// }
/// ```
pub trait Message: FromBytes + IntoBytes + KnownLayout + Immutable + Send + 'static {
    /// ROS 2's name of the type, as `sensor_msgs/msg/Image`.
    const TYPE_NAME: &'static str;
    /// The definition that both ends must agree on.
    const DEFINITION: &'static str;
}

/// What the engine is told about `T`. RIHS01 hashes are not known yet: all zero.
pub(crate) fn type_description<T: Message>() -> TypeDescription {
    const { assert!(align_of::<T>() <= gantry_shm::PAYLOAD_ALIGN, "payloads are aligned to 32 bytes") };
    TypeDescription {
        name: T::TYPE_NAME.to_owned(),
        hash: [0; 32],
        definition: T::DEFINITION.to_owned(),
        payload_bytes: size_of::<T>(),
    }
}
