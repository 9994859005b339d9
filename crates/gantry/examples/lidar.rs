//! Point clouds whose points are structs in shared memory. Run it with `cargo run --release -p gantry --example lidar`,
//! then run the example `ground_filter`.
//!
//! The program publishes the points that 64 beams measure in a simulated room, 65 536 points at 10 Hz on `/points`. The
//! message has a list of fields: its shape states the length of the list, and the elements are filled in afterwards.
//! For ROS 2, the field `data` is bytes; a checked cast (`zerocopy`) makes it a slice of the program's own struct, in
//! place.

#![expect(clippy::print_stdout, reason = "this is a program")]

mod common;

use clap::Parser;
use gantry::{Node, Publisher, Qos, Rate};
use gantry_msgs::{
    sensor_msgs::msg::{PointCloud2, PointCloud2Shape, PointField, PointFieldShape},
    std_msgs::msg::HeaderShape,
};
use std::{
    error::Error,
    f32::consts::TAU,
    mem::{offset_of, size_of},
    process::ExitCode,
};
use zerocopy::{FromBytes, Immutable, IntoBytes};

const BEAMS: usize = 64;
const COLUMNS: usize = 1024;
const SENSOR_HEIGHT_M: f32 = 1.8;
const HALF_ROOM_M: f32 = 15.0;

/// A measured point: four numbers, as the fields of the cloud describe them.
#[derive(FromBytes, IntoBytes, Immutable)]
#[repr(C)]
struct Point {
    x_m: f32,
    y_m: f32,
    z_m: f32,
    intensity: f32,
}

/// Names and offsets of the numbers of a point.
const FIELDS: [(&str, usize); 4] = [
    ("x", offset_of!(Point, x_m)),
    ("y", offset_of!(Point, y_m)),
    ("z", offset_of!(Point, z_m)),
    ("intensity", offset_of!(Point, intensity)),
];

/// Publishes the points of a simulated lidar.
#[derive(Parser)]
struct Arguments {
    /// Topic to publish on
    #[arg(long, default_value = "/points")]
    topic: String,
    /// Rate in clouds per second
    #[arg(long, default_value_t = 10, value_parser = clap::value_parser!(u32).range(1..=1000))]
    rate: u32,
    /// Duration of the run in seconds [default: until Ctrl-C]
    #[arg(long)]
    seconds: Option<u32>,
}

fn main() -> ExitCode {
    common::report(run(&Arguments::parse_from(gantry::remove_ros_arguments(std::env::args()))))
}

fn run(arguments: &Arguments) -> Result<(), Box<dyn Error>> {
    gantry::init()?;
    let node = Node::new("lidar")?;
    let qos = Qos::default().best_effort().keep_last(2);
    let mut publisher = node.create_publisher::<PointCloud2>(&arguments.topic, qos)?;
    println!("{} points on {}, {} Hz", BEAMS * COLUMNS, publisher.topic(), arguments.rate);
    let mut rate = Rate::new(arguments.rate.into())?;
    let clouds = arguments.seconds.map_or(u32::MAX, |seconds| seconds.saturating_mul(arguments.rate));
    for cloud in 0..clouds {
        publish(&mut publisher, cloud)?;
        if (cloud + 1) % arguments.rate == 0 {
            println!("{} clouds, {} subscriptions", cloud + 1, publisher.subscription_count()?);
        }
        rate.sleep();
        if !gantry::ok() {
            break;
        }
    }
    Ok(())
}

fn publish(publisher: &mut Publisher<PointCloud2>, number: u32) -> Result<(), Box<dyn Error>> {
    let mut cloud = publisher.loan_with(PointCloud2Shape {
        header: HeaderShape { frame_id: "lidar" },
        fields: FIELDS.map(|(name, _)| PointFieldShape { name }),
        data: BEAMS * COLUMNS * size_of::<Point>(),
    })?;
    *cloud.header_mut().stamp_mut() = gantry::now().into();
    cloud.set_height(BEAMS as u32);
    cloud.set_width(COLUMNS as u32);
    cloud.set_point_step(size_of::<Point>() as u32);
    cloud.set_row_step((COLUMNS * size_of::<Point>()) as u32);
    cloud.set_is_dense(true);
    // The elements of a list differ in length, so they can only be visited in order.
    let mut fields = cloud.fields_mut();
    for (_, offset) in FIELDS {
        let Some(mut field) = fields.next() else { break };
        field.set_offset(offset as u32);
        field.set_datatype(PointField::FLOAT32);
        field.set_count(1);
    }
    // The cast succeeds because a sequence of bytes begins at a multiple of four, as an `f32` must.
    let points = <[Point]>::mut_from_bytes(cloud.data_mut()).map_err(|why| format!("the points do not fit: {why}"))?;
    scan(points, number);
    publisher.publish(cloud)?;
    Ok(())
}

/// Fills in the points that the beams hit: on the ground, on four walls, or on a pillar that circles the sensor.
fn scan(points: &mut [Point], number: u32) {
    let angle = number as f32 / 50.0 * TAU;
    let (pillar_x_m, pillar_y_m) = (6.0 * angle.cos(), 6.0 * angle.sin());
    for (beam, row) in points.chunks_exact_mut(COLUMNS).enumerate() {
        let elevation = (15.0 - 40.0 * beam as f32 / (BEAMS - 1) as f32).to_radians();
        for (column, point) in row.iter_mut().enumerate() {
            let azimuth = column as f32 / COLUMNS as f32 * TAU;
            let (x, y, z) = (elevation.cos() * azimuth.cos(), elevation.cos() * azimuth.sin(), elevation.sin());
            let ground_m = if z < 0.0 { -SENSOR_HEIGHT_M / z } else { f32::INFINITY };
            let wall_m = HALF_ROOM_M / x.abs().max(y.abs());
            let pillar_m = circle_m(pillar_x_m, pillar_y_m, x, y);
            let range_m = ground_m.min(wall_m).min(pillar_m);
            let intensity = if range_m == ground_m { 0.2 } else { 0.8 };
            *point = Point { x_m: x * range_m, y_m: y * range_m, z_m: z * range_m, intensity };
        }
    }
}

/// The distance along a ray to the near side of a circle with a radius of half a metre.
fn circle_m(centre_x_m: f32, centre_y_m: f32, x: f32, y: f32) -> f32 {
    const RADIUS_M: f32 = 0.5;
    let squared = x * x + y * y;
    let along = (centre_x_m * x + centre_y_m * y) / squared;
    let beside_m2 = (centre_x_m - along * x).powi(2) + (centre_y_m - along * y).powi(2);
    let half_chord_m2 = RADIUS_M * RADIUS_M - beside_m2;
    if along < 0.0 || half_chord_m2 < 0.0 { f32::INFINITY } else { along - (half_chord_m2 / squared).sqrt() }
}
