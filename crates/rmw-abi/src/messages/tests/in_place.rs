//! Tests of C messages whose long sequences point to the bytes of a sample.

use super::{
    super::{MessageInPlace, MessageType, in_place::LEAST_BYTES},
    table::*,
};
use crate::bindings::*;
use std::{
    ffi::{c_uint, c_void},
    mem::{offset_of, zeroed},
    sync::Arc,
};

#[repr(C)]
struct Scan {
    name: rosidl_runtime_c__String,
    ranges: rosidl_runtime_c__Sequence,
    flags: rosidl_runtime_c__Sequence,
    number: u32,
    extra: rosidl_runtime_c__Sequence,
}

/// The string has memory from the start, so that an assignment needs no function of ROS 2.
unsafe extern "C" fn init(at: *mut c_void, _: c_uint) {
    let name = rosidl_runtime_c__String { data: unsafe { libc::calloc(1, 16) }.cast(), size: 0, capacity: 16 };
    unsafe { at.cast::<Scan>().write(Scan { name, ..zeroed() }) };
}

/// Frees the memory of each field, as rosidl's function does. The process ends if a field's memory does not come from
/// `malloc`.
unsafe extern "C" fn fini(at: *mut c_void) {
    let scan = unsafe { &*at.cast::<Scan>() };
    for data in [scan.name.data.cast(), scan.ranges.data, scan.flags.data, scan.extra.data] {
        unsafe { libc::free(data) };
    }
}

fn scan_type() -> Arc<MessageType> {
    let fields = vec![
        field(c"name", ROS_TYPE_STRING, offset_of!(Scan, name)),
        field(c"ranges", ROS_TYPE_DOUBLE, offset_of!(Scan, ranges)).sequence::<8>(),
        field(c"flags", ROS_TYPE_BOOLEAN, offset_of!(Scan, flags)).sequence::<1>(),
        field(c"number", ROS_TYPE_UINT32, offset_of!(Scan, number)),
        field(c"extra", ROS_TYPE_UINT8, offset_of!(Scan, extra)).sequence::<1>(),
    ];
    let support = with_life(support(c"Scan", size_of::<Scan>(), fields), init, fini);
    Arc::new(unsafe { MessageType::new(support) }.unwrap())
}

/// The CDR body of a scan, at an address that is a multiple of 8.
fn body(message_type: &MessageType, ranges: usize, extra: usize) -> Vec<u64> {
    let scan = Scan {
        name: text("front", 0),
        ranges: sequence((0..ranges).map(|index| index as f64).collect::<Vec<_>>()),
        flags: sequence(vec![1_u8; LEAST_BYTES + 1]),
        number: 7,
        extra: sequence(vec![3_u8; extra]),
    };
    let message = (&raw const scan).cast();
    let length = unsafe { message_type.size_bytes(message) }.unwrap();
    let mut body = vec![0_u64; length.div_ceil(8)];
    let bytes = unsafe { std::slice::from_raw_parts_mut(body.as_mut_ptr().cast::<u8>(), length) };
    unsafe { message_type.write(message, bytes) }.unwrap();
    body
}

fn bytes(body: &[u64]) -> &[u8] {
    unsafe { std::slice::from_raw_parts(body.as_ptr().cast(), size_of_val(body)) }
}

fn scan(message: &mut MessageInPlace) -> &mut Scan {
    unsafe { &mut *message.as_ptr().cast::<Scan>() }
}

#[test]
fn long_sequences_lie_in_place_and_short_ones_and_booleans_are_copied() {
    let message_type = scan_type();
    assert!(message_type.can_be_loaned() && message_type.plain_bytes().is_none());
    let body = body(&message_type, LEAST_BYTES, LEAST_BYTES - 1);
    let bytes = bytes(&body);
    let mut message = MessageInPlace::new(&message_type).unwrap();
    unsafe { message.read(bytes) }.unwrap();
    let found = scan(&mut message);
    let is_in_place =
        |sequence: &rosidl_runtime_c__Sequence| bytes.as_ptr_range().contains(&sequence.data.cast_const().cast());
    assert!(is_in_place(&found.ranges) && !is_in_place(&found.flags) && !is_in_place(&found.extra));
    assert_eq!((found.ranges.size, found.ranges.capacity), (LEAST_BYTES, LEAST_BYTES));
    assert_eq!((found.flags.size, found.number, found.extra.size), (LEAST_BYTES + 1, 7, LEAST_BYTES - 1));
    let ranges = unsafe { std::slice::from_raw_parts(found.ranges.data.cast::<f64>(), found.ranges.size) };
    assert!(ranges.iter().zip(0..).all(|(range, index)| *range == f64::from(index)));
    message.end().unwrap();
}

#[test]
fn a_sequence_that_a_callback_changed_is_named() {
    let message_type = scan_type();
    let body = body(&message_type, LEAST_BYTES, LEAST_BYTES);
    type Change = fn(&mut Scan);
    let changes: [(&str, Change); 3] = [
        // The callback moved the elements out of the field, and gave the field other memory.
        ("ranges", |scan| scan.ranges = sequence(vec![0.0_f64; 3])),
        ("ranges", |scan| std::mem::swap(&mut scan.ranges, &mut scan.extra)),
        ("extra", |scan| scan.extra = unsafe { zeroed() }),
    ];
    for (name, change) in changes {
        let mut message = MessageInPlace::new(&message_type).unwrap();
        unsafe { message.read(bytes(&body)) }.unwrap();
        change(scan(&mut message));
        let sentence = message.end().unwrap_err().sentence;
        assert!(sentence.contains(&format!("`{name}` of a loaned test_msgs/msg/Scan")), "{sentence}");
        message.end().unwrap();
    }
}

#[test]
fn a_damaged_message_is_refused_and_leaves_nothing_in_place() {
    let message_type = scan_type();
    let body = body(&message_type, LEAST_BYTES, LEAST_BYTES);
    let bytes = bytes(&body);
    let mut message = MessageInPlace::new(&message_type).unwrap();
    for length in (0..bytes.len() - 8).step_by(101) {
        let refused = unsafe { message.read(&bytes[..length]) };
        assert!(refused.is_err_and(|failure| failure.sentence.contains("cannot be read: `")), "{length}");
    }
    unsafe { message.read(bytes) }.unwrap(); // a valid message can be read next
    message.end().unwrap();
}
