//! A viewer: takes images and writes them as PNG, from the memory that the camera wrote them to.
//!
//! `cargo run --release -p gantry --example viewer` writes the first image on `/image` to `image.png`; with `--every 2` it goes
//! on and writes one each two seconds. Shown here: a sample derefs to the image's view, with a getter for each field, and
//! `data()` is the publisher's memory. What a camera says about itself is checked before it is believed.

#![expect(clippy::print_stdout, reason = "this is a program")]

mod common;

use clap::Parser;
use gantry::{Node, Qos, Sample};
use gantry_msgs::sensor_msgs::Image;
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
    /// Where to take images from
    #[arg(long, default_value = "/image")]
    topic: String,
    /// Where to write them, one over the other
    #[arg(long, default_value = "image.png")]
    output: PathBuf,
    /// Go on, and write an image each so many seconds
    #[arg(long, value_parser = clap::value_parser!(u32).range(1..))]
    every: Option<u32>,
    /// How long to run, or to wait for the first image [default: until Ctrl-C]
    #[arg(long)]
    seconds: Option<u32>,
}

fn main() -> ExitCode {
    common::report(run(&Arguments::parse()))
}

fn run(arguments: &Arguments) -> Result<(), Box<dyn Error>> {
    let node = Node::new("viewer")?;
    let mut images = node.create_subscription::<Image>(&arguments.topic, Qos::default().best_effort().keep_last(1))?;
    let start = Instant::now();
    let end = arguments.seconds.map(|seconds| start + Duration::from_secs(seconds.into()));
    let (mut next, mut taken, mut written) = (start, 0_u64, 0_u64);
    while end.is_none_or(|end| Instant::now() < end) {
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
        0 => Err(format!("no image came on {}; is a camera running?", images.topic()).into()),
        _ => Ok(()),
    }
}

/// Writes row by row, so that only a row is ever copied, and that only if its colours must change places.
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
            "an image says that it has {height} rows of {width} pixels, each row {step} bytes long, but it has \
             {length_bytes} bytes; its camera is wrong"
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
