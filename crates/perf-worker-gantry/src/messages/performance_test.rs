//! The messages of performance_test, whose last fields are `time` and `id`.

use std::hint::black_box;

use gantry::Message;
use gantry::gantry_cdr::{
    Shape,
    zerocopy::{FromZeros, IntoBytes},
};
use gantry_msgs::performance_test::msg as v2;
use gantry_msgs::v1::performance_test::msg as v1;

use super::{Benchmark, fixed_size, in_place};
use perf_worker::{
    run_spec::Content,
    stamp::{Stamp, Stamped},
};

/// The length of `time` and `id` together at the end of each message, bytes.
const STAMP_BYTES: usize = 16;

/// The methods that write and read the stamp of an owned message.
macro_rules! owned {
    () => {
        fn stamp(&mut self, stamp: Stamp) {
            self.time = stamp.time_ns;
            self.id = stamp.id;
        }

        fn stamped(&self) -> Stamped {
            Stamped { time_ns: self.time, id: self.id }
        }
    };
}

/// The methods that write and read the stamp through a view.
macro_rules! viewed {
    () => {
        fn stamp_loan(loan: &mut Self::View<&mut [u8]>, stamp: Stamp) {
            loan.set_time(stamp.time_ns);
            loan.set_id(stamp.id);
        }

        fn stamped_sample(sample: &Self::View<&[u8]>) -> Stamped {
            Stamped { time_ns: sample.time(), id: sample.id() }
        }
    };
}

/// The methods of messages that are structs in shared memory.
macro_rules! plain {
    () => {
        in_place!();

        fn payload(&self) -> &[u8] {
            let bytes = self.as_bytes();
            bytes.split_at(bytes.len() - STAMP_BYTES).0
        }

        fn payload_mut(&mut self) -> &mut [u8] {
            let bytes = self.as_mut_bytes();
            bytes.split_at_mut(bytes.len() - STAMP_BYTES).0
        }
    };
}

/// The payload methods of a message that is accessed through a view and has a sequence or an array of bytes.
macro_rules! payload {
    ($field:ident, $field_mut:ident) => {
        fn payload(&self) -> &[u8] {
            &self.$field
        }

        fn payload_mut(&mut self) -> &mut [u8] {
            &mut self.$field
        }

        fn payload_of_loan<'a>(loan: &'a mut Self::View<&mut [u8]>) -> &'a mut [u8] {
            loan.$field_mut()
        }

        fn payload_of_sample<'a>(sample: &'a Self::View<&[u8]>) -> &'a [u8] {
            sample.$field()
        }
    };
}

/// The payload methods of messages without a payload, such as single fields and texts. Each loan writes the whole
/// message, and each take reads it.
macro_rules! no_payload {
    () => {
        fn payload(&self) -> &[u8] {
            &[]
        }

        fn payload_mut(&mut self) -> &mut [u8] {
            &mut []
        }

        fn payload_of_loan<'a>(_: &'a mut Self::View<&mut [u8]>) -> &'a mut [u8] {
            &mut []
        }

        fn payload_of_sample<'a>(_: &'a Self::View<&[u8]>) -> &'a [u8] {
            &[]
        }
    };
}

/// The methods of messages with single fields.
macro_rules! fields {
    () => {
        viewed!();
        no_payload!();
    };
}

/// The methods of point clouds.
macro_rules! cloud {
    () => {
        viewed!();
        payload!(data, data_mut);
    };
}

macro_rules! fixed {
    ($content:ident, $in_place:ident: $($generation:ident { $($name:ident)+ })+) => {
        $($(impl Benchmark for $generation::$name {
            const CONTENT: Content = Content::$content;

            fixed_size!();
            owned!();
            $in_place!();
        })+)+
    };
}

fixed!(Plain, plain:
    v2 { Array32 Array64 Array128 Array256 Array512 Array1k Array4k Array16k Array32k Array60k Array64k Array256k Array1m
         Array2m Array4m Array8m Struct16 Struct256 Struct4k Struct32k }
    v1 { Array1k Array4k Array16k Array32k Array60k Array64k Array256k Array1m Array2m Array4m Array8m });
fixed!(Fields, cloud:
    v2 { PointCloud512k PointCloud1m PointCloud2m PointCloud4m PointCloud8m }
    v1 { PointCloud512k PointCloud1m PointCloud2m PointCloud4m PointCloud8m });
fixed!(Fields, fields: v1 { NavSatFix Range RadarDetection RadarTrack });

/// Implements messages with a sequence of `$length` bytes.
macro_rules! sequence {
    ($content:ident, $field:ident, $field_mut:ident, |$unbounded_bytes:pat_param|: $($name:ident $shape:ident $length:expr;)+) => {
        $(impl Benchmark for v2::$name {
            const CONTENT: Content = Content::$content;

            owned!();
            viewed!();
            payload!($field, $field_mut);

            fn prepared($unbounded_bytes: usize) -> Box<Self> {
                Box::new(Self { $field: vec![0; $length], ..Self::default() })
            }

            fn touch(&mut self) {
                black_box(&mut self.$field).fill(0x5a);
            }

            fn shape(&self) -> impl Shape<Self> {
                v2::$shape::from(self)
            }
        })+
    };
}

sequence!(BoundedSequence, bounded_sequence, bounded_sequence_mut, |_|:
    BoundedSequence1k BoundedSequence1kShape 1024;
    BoundedSequence4k BoundedSequence4kShape 4096;
    BoundedSequence16k BoundedSequence16kShape 16384;
    BoundedSequence32k BoundedSequence32kShape 32768;
    BoundedSequence64k BoundedSequence64kShape 65536;
    BoundedSequence256k BoundedSequence256kShape 262_144;
    BoundedSequence1m BoundedSequence1mShape 1_048_576;
    BoundedSequence2m BoundedSequence2mShape 2_097_152;
    BoundedSequence4m BoundedSequence4mShape 4_194_304;
    BoundedSequence8m BoundedSequence8mShape 8_388_608;);
sequence!(Sequence, unbounded_sequence, unbounded_sequence_mut, |unbounded_bytes|:
    UnboundedSequence UnboundedSequenceShape unbounded_bytes;);

impl Benchmark for v2::UnboundedString {
    const CONTENT: Content = Content::Text;

    owned!();
    viewed!();
    no_payload!();

    fn prepared(unbounded_bytes: usize) -> Box<Self> {
        Box::new(Self { unbounded_string: "Z".repeat(unbounded_bytes), ..Self::default() })
    }

    fn touch(&mut self) {}

    fn shape(&self) -> impl Shape<Self> {
        v2::UnboundedStringShape::from(self)
    }
}
