//! The messages that are compared: how each message is loaned, and where its payload is.
//!
//! A plain array has only as many bytes as the payload of the message with which it is compared. So it shows Gantry's
//! lowest cost for this number of bytes.

use gantry::{Loan, Publisher, Sample};
use gantry_cdr::{Message, PlainMessage};
use gantry_msgs::{
    builtin_interfaces::msg::Time,
    sensor_msgs::msg::{Image, ImageShape, PointCloud2, PointCloud2Shape, PointField, PointFieldShape},
    std_msgs::msg::HeaderShape,
};
use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout};

/// An image of 1080p in rgb8.
pub const IMAGE_WIDTH: usize = 1920;
pub const IMAGE_HEIGHT: usize = 1080;
pub const IMAGE_BYTES: usize = IMAGE_WIDTH * IMAGE_HEIGHT * 3;
/// The width of the cloud: 128 beams have 2048 points each, of x, y, z and intensity.
pub const CLOUD_WIDTH: usize = 2048;
pub const CLOUD_HEIGHT: usize = 128;
pub const POINT_BYTES: usize = 16;
pub const CLOUD_BYTES: usize = CLOUD_WIDTH * CLOUD_HEIGHT * POINT_BYTES;

/// The fields of the points of the cloud, four bytes each.
pub const POINT_FIELDS: [&str; 4] = ["x", "y", "z", "intensity"];

/// A message with a payload.
pub trait Bulk: Message {
    /// Loans a message, and writes all its fields except the payload.
    fn loan(publisher: &mut Publisher<Self>) -> gantry::Result<Loan<Self>>;
    /// The payload, to be written.
    fn payload_mut(loan: &mut Loan<Self>) -> &mut [u8];
    /// The payload.
    fn payload(sample: &Sample<Self>) -> &[u8];
}

impl Bulk for Image {
    fn loan(publisher: &mut Publisher<Image>) -> gantry::Result<Loan<Image>> {
        let header = HeaderShape { frame_id: "camera" };
        let mut image = publisher.loan_with(ImageShape { header, encoding: "rgb8", data: IMAGE_BYTES })?;
        *image.header_mut().stamp_mut() = Time { sec: 1, nanosec: 2 };
        image.set_height(IMAGE_HEIGHT as u32);
        image.set_width(IMAGE_WIDTH as u32);
        image.set_step(IMAGE_WIDTH as u32 * 3);
        Ok(image)
    }

    fn payload_mut(loan: &mut Loan<Image>) -> &mut [u8] {
        loan.data_mut()
    }

    fn payload(sample: &Sample<Image>) -> &[u8] {
        sample.data()
    }
}

/// The shape of the cloud.
pub const CLOUD_SHAPE: PointCloud2Shape<'static> = PointCloud2Shape {
    header: HeaderShape { frame_id: "lidar" },
    fields: &[
        PointFieldShape { name: POINT_FIELDS[0] },
        PointFieldShape { name: POINT_FIELDS[1] },
        PointFieldShape { name: POINT_FIELDS[2] },
        PointFieldShape { name: POINT_FIELDS[3] },
    ],
    data: CLOUD_BYTES,
};

impl Bulk for PointCloud2 {
    fn loan(publisher: &mut Publisher<PointCloud2>) -> gantry::Result<Loan<PointCloud2>> {
        let mut cloud = publisher.loan_with(CLOUD_SHAPE)?;
        write_numbers(&mut cloud);
        Ok(cloud)
    }

    fn payload_mut(loan: &mut Loan<PointCloud2>) -> &mut [u8] {
        loan.data_mut()
    }

    fn payload(sample: &Sample<PointCloud2>) -> &[u8] {
        sample.data()
    }
}

/// Writes the fields of a cloud that are neither strings nor payload.
pub fn write_numbers<B: AsRef<[u8]> + AsMut<[u8]>>(cloud: &mut gantry_msgs::sensor_msgs::msg::PointCloud2View<B>) {
    *cloud.header_mut().stamp_mut() = Time { sec: 1, nanosec: 2 };
    cloud.set_height(CLOUD_HEIGHT as u32);
    cloud.set_width(CLOUD_WIDTH as u32);
    cloud.set_point_step(POINT_BYTES as u32);
    cloud.set_row_step((CLOUD_WIDTH * POINT_BYTES) as u32);
    cloud.set_is_dense(true);
    for (mut field, number) in cloud.fields_mut().zip(0..) {
        field.set_offset(4 * number);
        field.set_datatype(PointField::FLOAT32);
        field.set_count(1);
    }
}

macro_rules! array {
    ($(#[$documentation:meta] $name:ident = $bytes:literal;)+) => {$(
        #[$documentation]
        #[derive(FromBytes, IntoBytes, KnownLayout, Immutable)]
        #[repr(C)]
        pub struct $name(pub [u8; $bytes]);

        impl PlainMessage for $name {
            const TYPE_NAME: &'static str = concat!("unsized_bench/msg/", stringify!($name));
            const DEFINITION: &'static str = concat!("uint8[", $bytes, "] data\n");
        }

        impl Bulk for $name {
            fn loan(publisher: &mut Publisher<$name>) -> gantry::Result<Loan<$name>> {
                publisher.loan()
            }

            fn payload_mut(loan: &mut Loan<$name>) -> &mut [u8] {
                &mut loan.0
            }

            fn payload(sample: &Sample<$name>) -> &[u8] {
                &sample.0
            }
        }
    )+};
}
array! {
    /// As many bytes as the image.
    Array6m = 6_220_800;
    /// As many bytes as the cloud.
    Array4m = 4_194_304;
}
const _: () = assert!(size_of::<Array6m>() == IMAGE_BYTES && size_of::<Array4m>() == CLOUD_BYTES);
