//! A node between two topics that builds its output in shared memory from its input in shared memory. Run it with
//! `cargo run --release -p gantry --example ground_filter` while the example `lidar` runs.
//!
//! The node takes the point clouds on `/points` and publishes the points above the ground on `/points_above_ground`.
//! The length of a cloud must be known when it is loaned. So a first pass counts the points, and a second pass writes
//! them, without a copy in between. The input must have a field z and may have any other fields.

#![expect(clippy::print_stdout, reason = "this is a program")]

mod common;

use clap::Parser;
use gantry::{Node, Publisher, Qos, Sample};
use gantry_msgs::sensor_msgs::msg::{PointCloud2, PointCloud2Shape, PointField, PointFieldShape};
use std::{
    error::Error,
    process::ExitCode,
    time::{Duration, Instant},
};

/// Publishes the points of a cloud that are above the ground.
#[derive(Parser)]
struct Arguments {
    /// Topic to subscribe to
    #[arg(long, default_value = "/points")]
    input: String,
    /// Topic to publish on
    #[arg(long, default_value = "/points_above_ground")]
    output: String,
    /// Height z of the ground in metres, in the frame of the cloud
    #[arg(long, default_value_t = -1.7, allow_negative_numbers = true)]
    ground: f32,
    /// Duration of the run in seconds [default: until Ctrl-C]
    #[arg(long)]
    seconds: Option<u32>,
}

fn main() -> ExitCode {
    common::report(run(&Arguments::parse_from(gantry::remove_ros_arguments(std::env::args()))))
}

fn run(arguments: &Arguments) -> Result<(), Box<dyn Error>> {
    gantry::init()?;
    let node = Node::new("ground_filter")?;
    let qos = Qos::default().best_effort().keep_last(2);
    let mut clouds = node.create_subscription::<PointCloud2>(&arguments.input, qos)?;
    let mut publisher = node.create_publisher::<PointCloud2>(&arguments.output, qos)?;
    println!("{} -> {}", clouds.topic(), publisher.topic());
    let end = arguments.seconds.map(|seconds| Instant::now() + Duration::from_secs(seconds.into()));
    while gantry::ok() && end.is_none_or(|end| Instant::now() < end) {
        clouds.wait(Duration::from_millis(500))?;
        while let Some(cloud) = clouds.take()? {
            let points = filter(&cloud, &mut publisher, arguments.ground)?;
            println!("{} of {} points are above the ground", points, cloud.width() as usize * cloud.height() as usize);
        }
    }
    Ok(())
}

/// Publishes the points above the ground, and returns their number.
fn filter(
    cloud: &Sample<PointCloud2>,
    publisher: &mut Publisher<PointCloud2>,
    ground_m: f32,
) -> Result<usize, Box<dyn Error>> {
    let layout = PointLayout::from_cloud(cloud)?;
    let is_above = |point: &&[u8]| layout.z_m(point) > ground_m;
    let points = layout.points(cloud).filter(is_above).count();

    let mut above = publisher.loan_with(PointCloud2Shape {
        header: cloud.header().into(),
        fields: cloud.fields().map(PointFieldShape::from),
        data: points * layout.point_bytes,
    })?;
    *above.header_mut().stamp_mut() = *cloud.header().stamp();
    above.set_height(1); // the points are no longer in rows
    above.set_width(points as u32);
    above.set_point_step(layout.point_bytes as u32);
    above.set_row_step((points * layout.point_bytes) as u32);
    above.set_is_dense(cloud.is_dense());
    let mut fields = above.fields_mut();
    for field in cloud.fields() {
        let Some(mut same) = fields.next() else { break };
        same.set_offset(field.offset());
        same.set_datatype(field.datatype());
        same.set_count(field.count());
    }
    let targets = above.data_mut().chunks_exact_mut(layout.point_bytes);
    for (target, point) in targets.zip(layout.points(cloud).filter(is_above)) {
        target.copy_from_slice(point);
    }
    publisher.publish(above)?;
    Ok(points)
}

/// The layout of a cloud: the offsets of its points, and of z in a point.
struct PointLayout {
    point_bytes: usize,
    row_bytes: usize,
    width: usize,
    z_offset: usize,
}

impl PointLayout {
    /// Reads the layout from the cloud's fields. Returns an error if the cloud's data are too short.
    fn from_cloud(cloud: &Sample<PointCloud2>) -> Result<PointLayout, String> {
        let z = cloud.fields().find(|field| field.name() == "z").ok_or("a cloud has no field z")?;
        if z.datatype() != PointField::FLOAT32 || cloud.is_bigendian() {
            return Err("z of a cloud is not a little-endian FLOAT32, the only kind that this example reads".into());
        }
        let layout = PointLayout {
            point_bytes: cloud.point_step() as usize,
            row_bytes: cloud.row_step() as usize,
            width: cloud.width() as usize,
            z_offset: z.offset() as usize,
        };
        let (length_bytes, height) = (cloud.data().len(), cloud.height() as usize);
        if layout.z_offset + size_of::<f32>() > layout.point_bytes
            || layout.width.saturating_mul(layout.point_bytes) > layout.row_bytes
            || layout.row_bytes.saturating_mul(height) > length_bytes
        {
            return Err(format!(
                "a cloud states {height} rows of {} points of {} bytes, {} bytes each row, and z at {}, but it has {length_bytes} \
                 bytes; correct its publisher",
                layout.width, layout.point_bytes, layout.row_bytes, layout.z_offset
            ));
        }
        Ok(layout)
    }

    /// Iterates over the bytes of each point, in place.
    fn points<'a>(&self, cloud: &'a Sample<PointCloud2>) -> impl Iterator<Item = &'a [u8]> + use<'a> {
        let (point_bytes, row_bytes) = (self.point_bytes, self.row_bytes);
        let row_points_bytes = self.width * point_bytes;
        // `max` avoids a division by zero for an empty cloud, whose rows may have no bytes.
        let rows = cloud.data().chunks_exact(row_bytes.max(1)).take(cloud.height() as usize);
        rows.flat_map(move |row| row[..row_points_bytes].chunks_exact(point_bytes))
    }

    fn z_m(&self, point: &[u8]) -> f32 {
        let mut bytes = [0; size_of::<f32>()];
        bytes.copy_from_slice(&point[self.z_offset..][..size_of::<f32>()]);
        f32::from_le_bytes(bytes)
    }
}
