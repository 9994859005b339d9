//! iRobot's messages, whose header contains time, id, rate and the size of the payload.

use std::hint::black_box;

use gantry::Message;
use gantry::gantry_cdr::{
    Shape,
    zerocopy::{FromZeros, IntoBytes},
};
use gantry_msgs::builtin_interfaces::msg::Time;
use gantry_msgs::irobot_interfaces_plugin::msg as plugin;
use gantry_msgs::performance_test_msgs::msg::{self as base, PerformanceHeader};

use super::{Benchmark, fixed_size, in_place};
use perf_worker::{
    clock::SECOND_NS,
    run_spec::Content,
    stamp::{Stamp, Stamped},
};

/// The header of a message with `payload_bytes` of payload.
fn header(stamp: Stamp, payload_bytes: usize) -> PerformanceHeader {
    let Stamp { time_ns, id, rate_hz } = stamp;
    PerformanceHeader {
        stamp: Time { sec: (time_ns / SECOND_NS) as i32, nanosec: (time_ns % SECOND_NS) as u32 },
        tracking_number: id as u32,
        frequency: rate_hz as f32,
        size: payload_bytes as u32,
    }
}

fn stamped(header: &PerformanceHeader) -> Stamped {
    let time_ns = i64::from(header.stamp.sec) * SECOND_NS + i64::from(header.stamp.nanosec);
    Stamped { time_ns, id: u64::from(header.tracking_number) }
}

/// The methods that all of iRobot's messages have: the stamp, with an id of 32 bits, and the payload of an owned
/// message.
macro_rules! owned {
    () => {
        const LAST_ID: u64 = u32::MAX as u64;

        fn stamp(&mut self, stamp: Stamp) {
            self.header = header(stamp, size_of_val(&self.data[..]));
        }

        fn stamped(&self) -> Stamped {
            stamped(&self.header)
        }

        fn payload(&self) -> &[u8] {
            self.data[..].as_bytes()
        }

        fn payload_mut(&mut self) -> &mut [u8] {
            self.data[..].as_mut_bytes()
        }
    };
}

/// The methods of messages that are accessed through a view.
macro_rules! viewed {
    () => {
        fn stamp_loan(loan: &mut Self::View<&mut [u8]>, stamp: Stamp) {
            *loan.header_mut() = header(stamp, size_of_val(&loan.data()[..]));
        }

        fn stamped_sample(sample: &Self::View<&[u8]>) -> Stamped {
            stamped(sample.header())
        }

        fn payload_of_loan<'a>(loan: &'a mut Self::View<&mut [u8]>) -> &'a mut [u8] {
            loan.data_mut()[..].as_mut_bytes()
        }

        fn payload_of_sample<'a>(sample: &'a Self::View<&[u8]>) -> &'a [u8] {
            sample.data()[..].as_bytes()
        }
    };
}

/// Implements messages that are structs in shared memory.
macro_rules! plain {
    ($($name:ident)+) => {
        $(impl Benchmark for plugin::$name {
            const CONTENT: Content = Content::Plain;

            fixed_size!();
            owned!();
            in_place!();
        })+
    };
}

/// Implements messages whose C struct has padding: a view reads and writes their fields in shared memory.
macro_rules! padded {
    ($($package:ident::$name:ident)+) => {
        $(impl Benchmark for $package::$name {
            const CONTENT: Content = Content::Plain;

            fixed_size!();
            owned!();
            viewed!();
        })+
    };
}

plain!(Stamped100b Stamped1kb Stamped5kb Stamped10kb Stamped25kb Stamped50kb Stamped100kb Stamped250kb Stamped500kb
       Stamped600kb Stamped1mb Stamped4mb Stamped5mb Stamped8mb Stamped3Float32 Stamped4Float32 Stamped9Float32
       Stamped12Float32 Stamped4Int32);
padded!(plugin::Stamped10b plugin::Stamped50b plugin::Stamped250b plugin::StampedInt64 base::Sample);

impl Benchmark for plugin::StampedVector {
    const CONTENT: Content = Content::Sequence;

    owned!();
    viewed!();

    fn prepared(unbounded_bytes: usize) -> Box<Self> {
        Box::new(Self { data: vec![0; unbounded_bytes], ..Self::default() })
    }

    fn touch(&mut self) {
        black_box(&mut self.data).fill(0x5a);
    }

    fn shape(&self) -> impl Shape<Self> {
        plugin::StampedVectorShape::from(self)
    }
}
