//! Several nodes in one process, under one executor of your choice. Run it with
//! `cargo run --release -p gantry --example composition`.
//!
//! A camera publishes images, a light meter publishes the brightness of each image, and a third node prints the
//! brightness. The same nodes would work in separate processes: they communicate only through topics, and no image is
//! copied in either case. Each node has its own callback group, whose callbacks run one at a time, in parallel with the
//! callbacks of the other nodes.

#![expect(clippy::print_stdout, reason = "this is a program")]

mod common;

use clap::{Parser, ValueEnum};
use gantry::{
    CallbackIsolatedExecutor, EventsExecutor, Executor, MultiThreadedExecutor, Node, Publisher, Qos, Sample,
    SingleThreadedExecutor, Subscription,
};
use gantry_msgs::{
    sensor_msgs::msg::{Image, ImageShape},
    std_msgs::msg::{Float64, HeaderShape},
};
use std::{process::ExitCode, time::Duration};

const WIDTH: usize = 640;
const HEIGHT: usize = 480;

/// Runs a camera, a light meter for its images, and a node that prints the brightness.
#[derive(Parser)]
struct Arguments {
    /// Executor that runs the nodes
    #[arg(long, default_value = "multi-threaded")]
    executor: Kind,
    /// Rate in images per second
    #[arg(long, default_value_t = 30, value_parser = clap::value_parser!(u32).range(1..=1000))]
    rate: u32,
    /// Duration of the run in seconds [default: until Ctrl-C]
    #[arg(long)]
    seconds: Option<u64>,
}

#[derive(Clone, Copy, ValueEnum)]
enum Kind {
    SingleThreaded,
    MultiThreaded,
    Events,
    CallbackIsolated,
}

fn main() -> ExitCode {
    common::report(run(&Arguments::parse_from(gantry::remove_ros_arguments(std::env::args()))))
}

fn run(arguments: &Arguments) -> gantry::Result<()> {
    gantry::init()?;
    let nodes = [camera(arguments.rate)?, light_meter()?, watch()?];
    let mut executor: Box<dyn Executor> = match arguments.executor {
        Kind::SingleThreaded => Box::new(SingleThreadedExecutor::new()),
        Kind::MultiThreaded => Box::new(MultiThreadedExecutor::new()),
        Kind::Events => Box::new(EventsExecutor::new()),
        Kind::CallbackIsolated => Box::new(CallbackIsolatedExecutor::new()),
    };
    nodes.iter().try_for_each(|node| executor.add_node(node))?;
    let Some(seconds) = arguments.seconds else { return executor.spin() };
    executor.spin_until(Duration::from_secs(seconds), &mut || false)?;
    for connection in nodes[0].explain("image")? {
        println!("{connection}");
    }
    Ok(())
}

/// Publishes images that become brighter, and then dark again.
fn camera(rate: u32) -> gantry::Result<Node> {
    let node = Node::new("camera")?;
    let mut images = node.create_publisher::<Image>("image", Qos::default().best_effort().keep_last(2))?;
    let mut number: u8 = 0;
    node.create_timer_with_callback(Duration::from_secs(1) / rate, move |tick| {
        number = number.wrapping_add(1 + tick.overruns as u8);
        report(publish_image(&mut images, number));
    })?;
    Ok(node)
}

fn publish_image(images: &mut Publisher<Image>, brightness: u8) -> gantry::Result<()> {
    let header = HeaderShape { frame_id: "camera" };
    let mut image = images.loan_with(ImageShape { header, encoding: "mono8", data: WIDTH * HEIGHT })?;
    image.set_width(WIDTH as u32);
    image.set_height(HEIGHT as u32);
    image.set_step(WIDTH as u32);
    image.data_mut().fill(brightness);
    images.publish(image)?;
    Ok(())
}

/// Publishes the brightness of each image.
fn light_meter() -> gantry::Result<Node> {
    let node = Node::new("light_meter")?;
    let mut brightness = node.create_publisher::<Float64>("brightness", Qos::default())?;
    let qos = Qos::default().best_effort().keep_last(2);
    node.create_subscription_with_callback::<Image>("image", qos, move |image| {
        report(publish_brightness(&mut brightness, &image));
    })?;
    Ok(node)
}

fn publish_brightness(brightness: &mut Publisher<Float64>, image: &Sample<Image>) -> gantry::Result<()> {
    let pixels = image.data();
    let sum: u64 = pixels.iter().copied().map(u64::from).sum();
    let mut message = brightness.loan()?;
    message.data = sum as f64 / pixels.len() as f64;
    brightness.publish(message)?;
    Ok(())
}

/// Prints the brightness once a second. The subscription has no callback: the timer's callback takes the values.
fn watch() -> gantry::Result<Node> {
    let node = Node::new("watch")?;
    let mut values = node.create_subscription::<Float64>("brightness", Qos::default().keep_last(1000))?;
    node.create_timer_with_callback(Duration::from_secs(1), move |_| report(print_values(&mut values)))?;
    Ok(node)
}

fn print_values(values: &mut Subscription<Float64>) -> gantry::Result<()> {
    let (mut count, mut last) = (0, None);
    while let Some(value) = values.take()? {
        (count, last) = (count + 1, Some(value.data));
    }
    match last {
        Some(last) => println!("{count} images, the last one's brightness is {last:.0} of 255"),
        None => println!("no image for a second"),
    }
    Ok(())
}

/// Prints an error, because a callback cannot return errors.
fn report(result: gantry::Result<()>) {
    if let Err(error) = result {
        eprintln!("composition: {error}");
    }
}
