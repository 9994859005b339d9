//! Measures how fast C++ messages of an installed ROS 2 are serialised and deserialised, compared with a copy of the
//! same size. Run it by hand, with optimisation: `cargo test --release -p rmw-abi speed -- --ignored --nocapture`.

use super::{
    super::MessageType,
    library::{call, ros_libraries},
    memory::Memory,
};
use crate::bindings::*;
use gantry_cdr::Message;
use gantry_msgs::{sensor_msgs::msg, std_msgs, std_msgs::msg::Header};
use std::{hint::black_box, time::Instant};

/// Returns the median time of one call in ns.
fn median_ns(mut call: impl FnMut()) -> f64 {
    let mut batch = |calls: u32| {
        let start = Instant::now();
        (0..calls).for_each(|_| call());
        start.elapsed().as_nanos() as f64 / f64::from(calls)
    };
    let calls = (1_000_000.0 / batch(3)).clamp(1.0, 100_000.0) as u32;
    let mut times: Vec<f64> = (0..51).map(|_| batch(calls)).collect();
    times.sort_by(f64::total_cmp);
    times[times.len() / 2]
}

fn measure(directory: &std::path::Path, language: &str, package: &str, name: &str, body: &[u8]) {
    let support = format!("rosidl_typesupport_introspection_{language}");
    let symbol = format!("{support}__get_message_type_support_handle__{package}__msg__{name}");
    let library = directory.join(format!("lib{package}__{support}.so"));
    let handle = call::<rosidl_message_type_support_t>(&library, &symbol);
    let message_type = unsafe { MessageType::new(handle) }.unwrap();
    let members = unsafe { (*handle).data }.cast();
    let memory = Memory::new(members);
    let (at, mut target) = (memory.message, body.to_owned());
    unsafe { message_type.read(body, at) }.unwrap();
    let copy = median_ns(|| black_box(&mut target).copy_from_slice(black_box(body)));
    let size = median_ns(|| drop(black_box(unsafe { message_type.size_bytes(at) })));
    let write = median_ns(|| unsafe { message_type.write(at, black_box(&mut target)) }.unwrap());
    let read = median_ns(|| unsafe { message_type.read(black_box(body), at) }.unwrap());
    // An executor of rclcpp makes a new message for each sample.
    let fresh = median_ns(|| {
        let memory = Memory::new(members);
        unsafe { message_type.read(black_box(body), memory.message) }.unwrap();
    });
    let new = median_ns(|| drop(black_box(Memory::new(members))));
    println!(
        "{name} {language}, {} bytes: copy {copy:.0} ns, size {size:.0}, write {write:.0}, read {read:.0}, into a new one {fresh:.0} \
         (making it: {new:.0})",
        body.len()
    );
}

#[test]
#[ignore = "prints times; run by hand"]
fn speed() {
    let directory = ros_libraries();
    let header = Header { frame_id: "camera_optical_frame".to_owned(), ..Header::default() };
    let data: Vec<u8> = (0..4_000_000_u32).map(|index| index as u8).collect();
    let image =
        msg::Image { header: header.clone(), encoding: "rgb8".to_owned(), data: data.clone(), ..Default::default() };
    let axis = |name: &str| msg::PointField { name: name.to_owned(), offset: 0, datatype: 7, count: 1 };
    let fields = ["x", "y", "z", "intensity"].map(axis).to_vec();
    let cloud = msg::PointCloud2 { header: header.clone(), fields, data, ..Default::default() };
    let imu = msg::Imu { header, ..Default::default() };
    let text = std_msgs::msg::String { data: "x".repeat(250) };
    for language in ["c", "cpp"] {
        measure(&directory, language, "sensor_msgs", "Image", &image.to_cdr().unwrap()[4..]);
        measure(&directory, language, "sensor_msgs", "PointCloud2", &cloud.to_cdr().unwrap()[4..]);
        measure(&directory, language, "sensor_msgs", "Imu", &imu.to_cdr().unwrap()[4..]);
        measure(&directory, language, "std_msgs", "String", &text.to_cdr().unwrap()[4..]);
    }
}
