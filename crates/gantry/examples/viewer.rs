//! Images that are taken in place and written as PNG. Run it with `cargo run --release -p gantry --example viewer`
//! while the example `camera` runs.
//!
//! The program writes the first image on `/image` to `image.png`. With `--every 2` it continues and writes one image
//! every two seconds. A sample dereferences to the image's view, which has a getter for each field, and `data()` is the
//! publisher's memory. The sizes that an image states are checked before they are used.

#![expect(clippy::print_stdout, reason = "this is a program")]

mod common;

use clap::Parser;
use gantry::{Node, Qos, Sample};
use gantry_msgs::sensor_msgs::msg::Image;
use std::{
    error::Error,
    fs::File,
    io::{BufWriter, Write},
    path::{Path, PathBuf},
    process::ExitCode,
    time::{Duration, Instant},
};

/// Writes images as PNG files.
#[derive(Parser)]
struct Arguments {
    /// Topic to subscribe to
    #[arg(long, default_value = "/image")]
    topic: String,
    /// File to write; each image overwrites the last one
    #[arg(long, default_value = "image.png")]
    output: PathBuf,
    /// Continue, and write an image each time this number of seconds has passed [default: end after the first image]
    #[arg(long, value_parser = clap::value_parser!(u32).range(1..))]
    every: Option<u32>,
    /// Duration of the run, or of the wait for the first image, in seconds [default: until Ctrl-C]
    #[arg(long)]
    seconds: Option<u32>,
}

fn main() -> ExitCode {
    common::report(run(&Arguments::parse_from(gantry::remove_ros_arguments(std::env::args()))))
}

fn run(arguments: &Arguments) -> Result<(), Box<dyn Error>> {
    gantry::init()?;
    let node = Node::new("viewer")?;
    let mut images = node.create_subscription::<Image>(&arguments.topic, Qos::default().best_effort().keep_last(1))?;
    let start = Instant::now();
    let end = arguments.seconds.map(|seconds| start + Duration::from_secs(seconds.into()));
    let (mut next, mut taken, mut written) = (start, 0_u64, 0_u64);
    while gantry::ok() && end.is_none_or(|end| Instant::now() < end) {
        if !images.wait(Duration::from_millis(500))? {
            continue;
        }
        let Some(image) = images.take()? else { continue };
        taken += 1;
        if Instant::now() < next {
            continue;
        }
        write_png(&image, &arguments.output)?;
        written += 1;
        println!(
            "{}: {} x {} {} from {}, image {}",
            arguments.output.display(),
            image.width(),
            image.height(),
            image.encoding(),
            image.header().frame_id(),
            image.message_info().sequence,
        );
        let Some(seconds) = arguments.every else { return Ok(()) };
        next += Duration::from_secs(seconds.into());
    }
    println!("{taken} images taken, {written} written");
    match written {
        0 if gantry::ok() => Err(format!("no image came on {}; is a camera running?", images.topic()).into()),
        _ => Ok(()),
    }
}

/// Writes the image row by row, so that at most one row is copied, and only if its colours must be swapped.
fn write_png(image: &Sample<Image>, path: &Path) -> Result<(), Box<dyn Error>> {
    let (colour, pixel_bytes) = match image.encoding() {
        "rgb8" | "bgr8" => (png::ColorType::Rgb, 3),
        "mono8" => (png::ColorType::Grayscale, 1),
        other => return Err(format!("images in {other:?} cannot be written; rgb8, bgr8 and mono8 can").into()),
    };
    let (width, height, step) = (image.width() as usize, image.height() as usize, image.step() as usize);
    let row_bytes = width * pixel_bytes;
    let length_bytes = image.data().len();
    if row_bytes == 0 || step < row_bytes || length_bytes < step.saturating_mul(height) {
        return Err(format!(
            "an image states {height} rows of {width} pixels, each row {step} bytes long, but it has {length_bytes} bytes; \
             correct its camera"
        )
        .into());
    }
    let file = File::create(path).map_err(|why| format!("{} cannot be written: {why}", path.display()))?;
    let mut encoder = png::Encoder::new(BufWriter::new(file), image.width(), image.height());
    encoder.set_color(colour);
    encoder.set_compression(png::Compression::Fast);
    let mut header = encoder.write_header()?;
    let mut stream = header.stream_writer()?;
    let mut swapped = Vec::new();
    for row in image.data().chunks_exact(step).take(height) {
        let row = &row[..row_bytes];
        if image.encoding() == "bgr8" {
            swapped.clear();
            swapped.extend(row.as_chunks::<3>().0.iter().flat_map(|[blue, green, red]| [*red, *green, *blue]));
            stream.write_all(&swapped)?;
        } else {
            stream.write_all(row)?;
        }
    }
    Ok(stream.finish()?)
}
