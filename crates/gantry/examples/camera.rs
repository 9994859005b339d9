//! Images that are written in shared memory, where subscriptions read them without a copy. Run it with `cargo run
//! --release -p gantry --example camera`, and look at the images with the example `viewer`.
//!
//! The program publishes a moving test picture, 1080p in rgb8, at 60 Hz on `/image`. The length of an image is known
//! when it is loaned (`ImageShape`), and `data_mut()` is shared memory. A frame has 6 MB; no frame is copied or
//! serialised.

#![expect(clippy::print_stdout, reason = "this is a program")]

mod common;

use clap::Parser;
use gantry::{Node, Publisher, Qos, Rate};
use gantry_msgs::{
    sensor_msgs::msg::{Image, ImageShape},
    std_msgs::msg::HeaderShape,
};
use std::process::ExitCode;

const PIXEL_BYTES: usize = 3;
/// The colours of the bars of a television test picture.
const BARS: [[u8; PIXEL_BYTES]; 8] = [
    [235, 235, 235],
    [235, 235, 16],
    [16, 235, 235],
    [16, 235, 16],
    [235, 16, 235],
    [235, 16, 16],
    [16, 16, 235],
    [16, 16, 16],
];

/// Publishes a moving test picture.
#[derive(Parser)]
struct Arguments {
    /// Topic to publish on
    #[arg(long, default_value = "/image")]
    topic: String,
    /// Width in pixels
    #[arg(long, default_value_t = 1920, value_parser = clap::value_parser!(u32).range(1..=16_384))]
    width: u32,
    /// Height in pixels
    #[arg(long, default_value_t = 1080, value_parser = clap::value_parser!(u32).range(1..=16_384))]
    height: u32,
    /// Rate in images per second
    #[arg(long, default_value_t = 60, value_parser = clap::value_parser!(u32).range(1..=10_000))]
    rate: u32,
    /// Duration of the run in seconds [default: until Ctrl-C]
    #[arg(long)]
    seconds: Option<u32>,
}

fn main() -> ExitCode {
    common::report(run(&Arguments::parse_from(gantry::remove_ros_arguments(std::env::args()))))
}

fn run(arguments: &Arguments) -> gantry::Result<()> {
    gantry::init()?;
    let node = Node::new("camera")?;
    let mut publisher = node.create_publisher::<Image>(&arguments.topic, Qos::default().best_effort().keep_last(2))?;
    println!("{} x {} rgb8 on {}, {} Hz", arguments.width, arguments.height, publisher.topic(), arguments.rate);
    let mut rate = Rate::new(arguments.rate.into())?;
    let images = arguments.seconds.map_or(u32::MAX, |seconds| seconds.saturating_mul(arguments.rate));
    for image in 0..images {
        publish(&mut publisher, arguments, image)?;
        if (image + 1) % arguments.rate == 0 {
            println!("{} images, {} viewers", image + 1, publisher.subscription_count()?);
        }
        rate.sleep();
        if !gantry::ok() {
            break;
        }
    }
    Ok(())
}

fn publish(publisher: &mut Publisher<Image>, arguments: &Arguments, number: u32) -> gantry::Result<()> {
    let (width, height) = (arguments.width, arguments.height);
    let step = width as usize * PIXEL_BYTES;
    let header = HeaderShape { frame_id: "camera" };
    let mut image = publisher.loan_with(ImageShape { header, encoding: "rgb8", data: step * height as usize })?;
    *image.header_mut().stamp_mut() = gantry::now().into();
    image.set_width(width);
    image.set_height(height);
    image.set_step(step as u32);
    draw(image.data_mut(), step, number as usize);
    publisher.publish(image)?;
    Ok(())
}

/// Draws coloured bars that move to the left, and below them a ramp of grey that moves to the right.
fn draw(pixels: &mut [u8], step: usize, number: usize) {
    let (width, height) = (step / PIXEL_BYTES, pixels.len() / step);
    let (bars, ramp) = pixels.split_at_mut(step * (height * 3 / 4));
    fill_rows(bars, step, |column| BARS[(column + 4 * number) % width * BARS.len() / width]);
    fill_rows(ramp, step, |column| [((column + width - number % width) % width * 256 / width) as u8; PIXEL_BYTES]);
}

/// Fills rows that are all equal.
fn fill_rows(rows: &mut [u8], step: usize, pixel: impl Fn(usize) -> [u8; PIXEL_BYTES]) {
    let Some((first, others)) = rows.split_at_mut_checked(step) else { return };
    for (column, target) in first.as_chunks_mut().0.iter_mut().enumerate() {
        *target = pixel(column);
    }
    others.chunks_exact_mut(step).for_each(|row| row.copy_from_slice(first));
}
