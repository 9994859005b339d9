//! Measurements in one process: the time to make, write, read, convert and publish messages that no other process
//! takes.
//!
//! A sample is the time of all repetitions of the measured work. The number of repetitions is the constant whose name
//! ends with `_REPEAT`.

use crate::{
    Result,
    message::{CLOUD_SHAPE, write_numbers},
    ticks,
};
use gantry::{Node, Publisher, Qos, Subscription};
use gantry_cdr::{AlignedBytes, ByteOrder, Message, PlainMessage};
use gantry_msgs::{
    builtin_interfaces::msg::Time,
    sensor_msgs::msg::PointCloud2,
    std_msgs::msg::{Header, HeaderShape},
};
use std::hint::black_box;
use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout};

/// The number of views, or of built messages, per sample.
pub const VIEW_REPEAT: u64 = 1000;
/// The number of messages that are published per sample. It is the largest number that the engine reclaims at once, so
/// that each sample has its share of reclaiming.
pub const PUBLISH_REPEAT: u64 = 256;
/// The number of samples in a turn of functions that copy.
const COPIES: usize = 8;
/// The number of samples in a turn of functions that do not copy.
const SAMPLES: usize = 20;

/// A point cloud as bytes and as an owned struct. Both are reused for all samples.
pub struct Cloud {
    body: AlignedBytes,
    owned: Box<PointCloud2>,
}

impl Cloud {
    /// Makes a cloud whose pages are faulted in.
    pub fn new() -> Result<Cloud> {
        let memory = AlignedBytes::zeroed(PointCloud2::shape_bytes(CLOUD_SHAPE)?);
        let mut view = PointCloud2::build(memory, CLOUD_SHAPE)?;
        write_numbers(&mut view);
        view.data_mut().fill(1);
        let owned = gantry_cdr::View::to_message(&view)?;
        let (body, _) = gantry_cdr::View::into_parts(view);
        Ok(Cloud { body, owned })
    }

    /// Measures making a view and reading the points.
    pub fn view(&mut self, samples: &mut Vec<u64>) -> Result<()> {
        let body = self.body.as_ref();
        for _ in 0..SAMPLES {
            let start = ticks::now();
            for _ in 0..VIEW_REPEAT {
                let cloud = PointCloud2::view(black_box(body))?;
                black_box(cloud.data()[0]);
            }
            samples.push(ticks::now() - start);
        }
        Ok(())
    }

    /// Measures deserialising the bytes into the owned struct.
    pub fn deserialise(&mut self, samples: &mut Vec<u64>) -> Result<()> {
        for _ in 0..COPIES {
            let start = ticks::now();
            self.owned.read_body(black_box(self.body.as_ref()), ByteOrder::LittleEndian)?;
            black_box(self.owned.data[0]);
            samples.push(ticks::now() - start);
        }
        Ok(())
    }

    /// Builds a cloud without its points.
    pub fn build(&mut self, samples: &mut Vec<u64>) -> Result<()> {
        for _ in 0..SAMPLES {
            let start = ticks::now();
            for _ in 0..VIEW_REPEAT {
                let shape = black_box(CLOUD_SHAPE);
                let length_bytes = PointCloud2::shape_bytes(shape)?;
                let mut cloud = PointCloud2::build(&mut self.body.as_mut()[..length_bytes], shape)?;
                write_numbers(&mut cloud);
                black_box(cloud.data_mut());
            }
            samples.push(ticks::now() - start);
        }
        Ok(())
    }

    /// Measures serialising the owned struct into the bytes.
    pub fn serialise(&mut self, samples: &mut Vec<u64>) -> Result<()> {
        for _ in 0..COPIES {
            let start = ticks::now();
            let length_bytes = black_box(&*self.owned).body_bytes()?;
            self.owned.write_body(&mut self.body.as_mut()[..length_bytes])?;
            black_box(self.body.as_ref());
            samples.push(ticks::now() - start);
        }
        Ok(())
    }
}

/// The plain message that is compared with the header. Both have the same size.
#[derive(FromBytes, IntoBytes, KnownLayout, Immutable)]
#[repr(C)]
struct Plain32([u64; 4]);

impl PlainMessage for Plain32 {
    const TYPE_NAME: &'static str = "unsized_bench/msg/Plain32";
    const DEFINITION: &'static str = "uint64[4] data\n";
}

/// The shape of a header that has 32 bytes, including the stamp and the length of the string.
const HEADER_SHAPE: HeaderShape<'static> = HeaderShape { frame_id: "base_footprint_link" };

/// Publishers of small messages, each with a subscription in the same process; the subscriptions never take.
pub struct Small {
    plain: (Publisher<Plain32>, Subscription<Plain32>),
    header: (Publisher<Header>, Subscription<Header>),
}

impl Small {
    /// Makes the publishers on topics whose names contain the session's number.
    pub fn new(session: u32) -> Result<Small> {
        if Header::shape_bytes(HEADER_SHAPE)? != size_of::<Plain32>() {
            return Err("the header and the plain message are not of the same size".into());
        }
        let node = Node::new("unsized_bench_small")?;
        Ok(Small {
            plain: pair(&node, &format!("/unsized_bench_{session}/plain"))?,
            header: pair(&node, &format!("/unsized_bench_{session}/header"))?,
        })
    }

    /// Loans, writes and publishes plain messages.
    pub fn publish_plain(&mut self, samples: &mut Vec<u64>) -> Result<()> {
        publish(samples, |value| {
            let mut message = self.plain.0.loan()?;
            message.0 = [u64::from(value); 4];
            self.plain.0.publish(message)?;
            Ok(())
        })
    }

    /// Loans, writes and publishes headers.
    pub fn publish_header(&mut self, samples: &mut Vec<u64>) -> Result<()> {
        publish(samples, |value| {
            let mut header = self.header.0.loan_with(black_box(HEADER_SHAPE))?;
            *header.stamp_mut() = Time { sec: 1, nanosec: value };
            self.header.0.publish(header)?;
            Ok(())
        })
    }
}

fn pair<T: Message>(node: &Node, topic: &str) -> Result<(Publisher<T>, Subscription<T>)> {
    let qos = Qos::default().reliable().volatile().keep_last(8);
    let (publisher, mut subscription) = (node.create_publisher(topic, qos)?, node.create_subscription(topic, qos)?);
    subscription.publisher_count()?;
    Ok((publisher, subscription))
}

#[inline(always)]
fn publish(samples: &mut Vec<u64>, mut one: impl FnMut(u32) -> gantry::Result<()>) -> Result<()> {
    for _ in 0..SAMPLES {
        let start = ticks::now();
        for value in 0..PUBLISH_REPEAT {
            one(value as u32)?;
        }
        samples.push(ticks::now() - start);
    }
    Ok(())
}
