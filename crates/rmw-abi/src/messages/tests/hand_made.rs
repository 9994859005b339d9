//! Tests with hand-made type supports of C structs. The bytes are compared with the encoders of `gantry-cdr` and
//! `gantry-dynamic`.

use super::{
    super::{MessageType, serialized},
    table::*,
};
use crate::bindings::*;
use fastrand::Rng;
use gantry_cdr::{ByteOrder, Message};
use gantry_dynamic::testing::random_body;
use gantry_idl::{Definitions, TypeName};
use gantry_msgs::{builtin_interfaces, sensor_msgs, std_msgs};
use std::mem::{offset_of, zeroed};

fn resolve(support: Support) -> MessageType {
    unsafe { MessageType::new(support) }.unwrap()
}

fn written<T>(message_type: &MessageType, message: &T) -> Result<Vec<u8>, String> {
    let message = (&raw const *message).cast();
    let length = unsafe { message_type.size_bytes(message) }.map_err(|failure| failure.sentence)?;
    let mut target = vec![0xaa; length];
    unsafe { message_type.write(message, &mut target) }.map_err(|failure| failure.sentence)?;
    Ok(target)
}

fn read<T>(message_type: &MessageType, bytes: &[u8], message: &mut T) -> Result<(), String> {
    unsafe { message_type.read(bytes, (&raw mut *message).cast()) }.map_err(|failure| failure.sentence)
}

/// Makes random messages with the definition of the type, reads them into structs, and writes them again.
fn round_trips<T>(support: Support, fresh: impl Fn() -> T) {
    let message_type = resolve(support);
    let description = message_type.description();
    let name: TypeName = description.name.parse().unwrap();
    let definitions = Definitions::from_text(&name, &description.definition).unwrap();
    assert_eq!(definitions.definition_text(&name).unwrap(), *description.definition);
    let dynamic = gantry_dynamic::MessageType::new(&definitions, &name).unwrap();
    let mut rng = Rng::with_seed(19);
    let mut reused = fresh();
    for _ in 0..40 {
        let body = random_body(&dynamic, &mut rng, ByteOrder::LittleEndian);
        read(&message_type, &body, &mut reused).unwrap();
        assert_eq!(written(&message_type, &reused).unwrap(), body);
        for length in 0..body.len() {
            let sentence = read(&message_type, &body[..length], &mut fresh()).unwrap_err();
            assert!(sentence.contains("cannot be read"), "{sentence}");
        }
    }
}

#[repr(C)]
struct Numbers {
    bool_value: bool,
    byte_value: u8,
    float64_value: f64,
    char_value: u8,
    int16_value: i16,
    float32_value: f32,
    int8_value: i8,
    uint16_value: u16,
    int32_value: i32,
    uint8_value: u8,
    uint32_value: u32,
    int64_value: i64,
    wchar_value: u16,
    uint64_value: u64,
    bools: [bool; 3],
    doubles: [f64; 2],
}

fn numbers() -> Support {
    support(
        c"Numbers",
        size_of::<Numbers>(),
        vec![
            field(c"bool_value", ROS_TYPE_BOOLEAN, offset_of!(Numbers, bool_value)),
            field(c"byte_value", ROS_TYPE_OCTET, offset_of!(Numbers, byte_value)),
            field(c"float64_value", ROS_TYPE_DOUBLE, offset_of!(Numbers, float64_value)),
            field(c"char_value", ROS_TYPE_CHAR, offset_of!(Numbers, char_value)),
            field(c"int16_value", ROS_TYPE_INT16, offset_of!(Numbers, int16_value)),
            field(c"float32_value", ROS_TYPE_FLOAT, offset_of!(Numbers, float32_value)),
            field(c"int8_value", ROS_TYPE_INT8, offset_of!(Numbers, int8_value)),
            field(c"uint16_value", ROS_TYPE_UINT16, offset_of!(Numbers, uint16_value)),
            field(c"int32_value", ROS_TYPE_INT32, offset_of!(Numbers, int32_value)),
            field(c"uint8_value", ROS_TYPE_UINT8, offset_of!(Numbers, uint8_value)),
            field(c"uint32_value", ROS_TYPE_UINT32, offset_of!(Numbers, uint32_value)),
            field(c"int64_value", ROS_TYPE_INT64, offset_of!(Numbers, int64_value)),
            field(c"wchar_value", ROS_TYPE_WCHAR, offset_of!(Numbers, wchar_value)),
            field(c"uint64_value", ROS_TYPE_UINT64, offset_of!(Numbers, uint64_value)),
            field(c"bools", ROS_TYPE_BOOLEAN, offset_of!(Numbers, bools)).array(3),
            field(c"doubles", ROS_TYPE_DOUBLE, offset_of!(Numbers, doubles)).array(2),
        ],
    )
}

#[test]
fn all_numbers_keep_their_bytes() {
    round_trips(numbers(), || unsafe { zeroed::<Numbers>() });
}

#[repr(C)]
struct Lists {
    first: u8,
    words: rosidl_runtime_c__Sequence,
    flags: rosidl_runtime_c__Sequence,
    numbers: [Small; 2],
    more: rosidl_runtime_c__Sequence,
    points: rosidl_runtime_c__Sequence,
    last: f64,
}

/// A struct with padding inside and at its end.
#[repr(C)]
struct Small {
    kind: u8,
    value: f64,
    tail: u16,
}

fn small() -> Support {
    support(
        c"Small",
        size_of::<Small>(),
        vec![
            field(c"kind", ROS_TYPE_UINT8, offset_of!(Small, kind)),
            field(c"value", ROS_TYPE_DOUBLE, offset_of!(Small, value)),
            field(c"tail", ROS_TYPE_UINT16, offset_of!(Small, tail)),
        ],
    )
}

/// A struct whose bytes are its CDR at any position.
fn point() -> Support {
    let axes = [(c"x", 0), (c"y", 8), (c"z", 16)];
    support(c"Point", 24, axes.map(|(name, offset)| field(name, ROS_TYPE_DOUBLE, offset)).into())
}

fn lists() -> Support {
    support(
        c"Lists",
        size_of::<Lists>(),
        vec![
            field(c"first", ROS_TYPE_UINT8, offset_of!(Lists, first)),
            field(c"words", ROS_TYPE_UINT64, offset_of!(Lists, words)).bounded::<8>(5),
            field(c"flags", ROS_TYPE_BOOLEAN, offset_of!(Lists, flags)).sequence::<1>(),
            nested(c"numbers", small(), offset_of!(Lists, numbers)).array(2),
            nested(c"more", small(), offset_of!(Lists, more)).sequence::<24>(),
            nested(c"points", point(), offset_of!(Lists, points)).sequence::<24>(),
            field(c"last", ROS_TYPE_DOUBLE, offset_of!(Lists, last)),
        ],
    )
}

#[test]
fn sequences_and_nested_messages_keep_their_bytes() {
    round_trips(lists(), || unsafe { zeroed::<Lists>() });
}

#[repr(C)]
struct Texts {
    name: rosidl_runtime_c__String,
    wide: rosidl_runtime_c__U16String,
    id: u32,
    short: [rosidl_runtime_c__String; 2],
}

fn texts() -> Texts {
    Texts { name: text("", 64), wide: wide_text("", 64), id: 0, short: [text("", 64), text("", 64)] }
}

fn texts_support() -> Support {
    support(
        c"Texts",
        size_of::<Texts>(),
        vec![
            field(c"name", ROS_TYPE_STRING, offset_of!(Texts, name)),
            field(c"wide", ROS_TYPE_WSTRING, offset_of!(Texts, wide)),
            field(c"id", ROS_TYPE_UINT32, offset_of!(Texts, id)),
            field(c"short", ROS_TYPE_STRING, offset_of!(Texts, short)).array(2).text_bound(5),
        ],
    )
}

#[test]
fn texts_keep_their_bytes() {
    round_trips(texts_support(), texts);
}

#[test]
fn an_empty_message_is_a_byte_as_for_gantrys_own_nodes() {
    let placeholder = field(c"structure_needs_at_least_one_member", ROS_TYPE_UINT8, 0);
    let message_type = resolve(support(c"Empty", 1, vec![placeholder]));
    assert_eq!(&*message_type.description().definition, std_msgs::msg::Empty::DEFINITION);
    assert_eq!(written(&message_type, &0_u8).unwrap(), std_msgs::msg::Empty::default().to_cdr().unwrap()[4..]);
}

#[repr(C)]
struct Header {
    stamp: [u32; 2],
    frame_id: rosidl_runtime_c__String,
}

#[repr(C)]
struct PointCloud2 {
    header: Header,
    size: [u32; 2],
    fields: rosidl_runtime_c__Sequence,
    is_bigendian: bool,
    step: [u32; 2],
    data: rosidl_runtime_c__Sequence,
    is_dense: bool,
}

#[repr(C)]
struct PointField {
    name: rosidl_runtime_c__String,
    offset: u32,
    datatype: u8,
    count: u32,
}

fn point_cloud() -> Support {
    let time = support(c"Time", 8, vec![field(c"sec", ROS_TYPE_INT32, 0), field(c"nanosec", ROS_TYPE_UINT32, 4)]);
    let frame_id = field(c"frame_id", ROS_TYPE_STRING, offset_of!(Header, frame_id));
    let header = support(c"Header", size_of::<Header>(), vec![nested(c"stamp", time, 0), frame_id]);
    let point_field = support(
        c"PointField",
        size_of::<PointField>(),
        vec![
            field(c"name", ROS_TYPE_STRING, 0),
            field(c"offset", ROS_TYPE_UINT32, offset_of!(PointField, offset)),
            field(c"datatype", ROS_TYPE_UINT8, offset_of!(PointField, datatype)),
            field(c"count", ROS_TYPE_UINT32, offset_of!(PointField, count)),
        ],
    );
    support(
        c"PointCloud2",
        size_of::<PointCloud2>(),
        vec![
            nested(c"header", header, 0),
            field(c"height", ROS_TYPE_UINT32, offset_of!(PointCloud2, size)),
            field(c"width", ROS_TYPE_UINT32, offset_of!(PointCloud2, size) + 4),
            nested(c"fields", point_field, offset_of!(PointCloud2, fields)).sequence::<40>(),
            field(c"is_bigendian", ROS_TYPE_BOOLEAN, offset_of!(PointCloud2, is_bigendian)),
            field(c"point_step", ROS_TYPE_UINT32, offset_of!(PointCloud2, step)),
            field(c"row_step", ROS_TYPE_UINT32, offset_of!(PointCloud2, step) + 4),
            field(c"data", ROS_TYPE_UINT8, offset_of!(PointCloud2, data)).sequence::<1>(),
            field(c"is_dense", ROS_TYPE_BOOLEAN, offset_of!(PointCloud2, is_dense)),
        ],
    )
}

#[test]
fn a_point_cloud_has_the_bytes_of_gantrys_own() {
    let point_field = |name: &str, offset| PointField { name: text(name, 0), offset, datatype: 7, count: 1 };
    let cloud = PointCloud2 {
        header: Header { stamp: [12, 34], frame_id: text("lidar", 0) },
        size: [1, 2],
        fields: sequence(vec![point_field("x", 0), point_field("intensity", 4)]),
        is_bigendian: false,
        step: [8, 16],
        data: sequence((0..16_u8).collect()),
        is_dense: true,
    };
    let own_field =
        |name: &str, offset| sensor_msgs::msg::PointField { name: name.to_owned(), offset, datatype: 7, count: 1 };
    let own = sensor_msgs::msg::PointCloud2 {
        header: std_msgs::msg::Header {
            stamp: builtin_interfaces::msg::Time { sec: 12, nanosec: 34 },
            frame_id: "lidar".to_owned(),
        },
        height: 1,
        width: 2,
        fields: vec![own_field("x", 0), own_field("intensity", 4)],
        is_bigendian: false,
        point_step: 8,
        row_step: 16,
        data: (0..16).collect(),
        is_dense: true,
    };
    let message_type = resolve(point_cloud());
    assert_eq!(message_type.plain_bytes(), None);
    assert_eq!(message_type.description().payload_bytes, usize::MAX);
    let body = written(&message_type, &cloud).unwrap();
    assert_eq!(body, own.to_cdr().unwrap()[4..]);

    let mut huge = body;
    huge[28..32].copy_from_slice(&u32::MAX.to_le_bytes());
    let header = Header { stamp: [0; 2], frame_id: text("", 64) };
    let mut message = PointCloud2 { header, ..unsafe { zeroed() } };
    let sentence = read(&message_type, &huge, &mut message).unwrap_err();
    assert!(sentence.contains("PointCloud2 cannot be read: `fields`: "), "{sentence}");
}

#[test]
fn a_length_is_checked_before_memory_is_made() {
    let message_type = resolve(lists());
    for (offset, path) in [(4, "words"), (8, "flags")] {
        let mut body = vec![0; 200];
        body[offset..offset + 4].copy_from_slice(&u32::MAX.to_le_bytes());
        let mut message = unsafe { zeroed::<Lists>() };
        let sentence = read(&message_type, &body, &mut message).unwrap_err();
        assert!(sentence.contains(&format!("`{path}`")), "{sentence}");
        assert!(message.words.data.is_null() && message.flags.data.is_null());
    }
}

#[test]
fn bounds_are_respected() {
    let message_type = resolve(lists());
    let message = Lists { words: sequence(vec![0_u64; 6]), ..unsafe { zeroed() } };
    let sentence = written(&message_type, &message).unwrap_err();
    assert!(sentence.contains("`words`: it has 6 elements and may have 5"), "{sentence}");

    let message_type = resolve(texts_support());
    let message = Texts { short: [text("12345", 0), text("123456", 0)], ..texts() };
    let sentence = written(&message_type, &message).unwrap_err();
    assert!(sentence.contains("`short[1]`: it has 6 characters and may have 5"), "{sentence}");
}

#[test]
fn damaged_structs_are_refused() {
    let message_type = resolve(texts_support());
    let null = rosidl_runtime_c__String { data: std::ptr::null_mut(), size: 3, capacity: 4 };
    assert!(written(&message_type, &Texts { name: null, ..texts() }).unwrap_err().contains("null"));
    let unterminated = rosidl_runtime_c__String { size: 64, ..text("", 64) };
    assert!(written(&message_type, &Texts { name: unterminated, ..texts() }).unwrap_err().contains("capacity"));
    // A message whose bytes are all zeros has empty strings.
    written(&message_type, &unsafe { zeroed::<Texts>() }).unwrap();
    let message_type = resolve(lists());
    let null = rosidl_runtime_c__Sequence { data: std::ptr::null_mut(), size: 3, capacity: 3 };
    assert!(written(&message_type, &Lists { flags: null, ..unsafe { zeroed() } }).unwrap_err().contains("null"));
}

#[test]
fn a_message_that_changes_while_it_is_published_is_an_error() {
    let message_type = resolve(texts_support());
    let mut message = Texts { name: text("before", 64), ..texts() };
    let at = (&raw const message).cast();
    let length = unsafe { message_type.size_bytes(at) }.unwrap();
    for size in [1, 40] {
        message.name.size = size;
        let mut target = vec![0; length];
        let failure = unsafe { message_type.write((&raw const message).cast(), &mut target) }.unwrap_err();
        assert!(failure.sentence.contains("another thread"), "{}", failure.sentence);
    }
}

#[test]
fn booleans_are_0_or_1() {
    let message_type = resolve(support(
        c"Flags",
        6,
        vec![field(c"id", ROS_TYPE_UINT16, 0), field(c"flags", ROS_TYPE_BOOLEAN, 2).array(4)],
    ));
    assert_eq!(written(&message_type, &[1_u8, 2, 0, 1, 0xff, 3]).unwrap(), [1, 2, 0, 1, 1, 1]);
    let mut message = [7_u8; 6];
    let sentence = read(&message_type, &[1, 2, 0, 1, 2, 1], &mut message).unwrap_err();
    assert!(sentence.contains("`flags`: a boolean is 2"), "{sentence}");
    assert_eq!(message[2..], [0, 1, 0, 1]);

    assert_eq!(message_type.plain_bytes(), Some(6));
    message_type.check_plain(&[9, 9, 1, 0, 1, 0]).unwrap();
    assert_eq!(message_type.without_padding(&[9, 9, 1, 0, 1, 0, 7, 7]), [9, 9, 1, 0, 1, 0]);
    assert!(message_type.check_plain(&[9, 9, 1, 0, 2, 0]).unwrap_err().sentence.contains("boolean"));
    assert!(message_type.check_plain(&[9, 9, 1, 0, 1]).unwrap_err().sentence.contains("6 bytes, and these are 5"));
}

#[test]
fn plain_types_are_their_cdr() {
    let double = |offset| field(c"a", ROS_TYPE_DOUBLE, offset);
    let byte = |offset| field(c"b", ROS_TYPE_UINT8, offset);
    let plain = |support: Support| {
        let message_type = resolve(support);
        (message_type.plain_bytes(), message_type.description().payload_bytes)
    };
    assert_eq!(plain(point()), (Some(24), 24));
    // Padding inside a struct is allowed in a plain type; padding at the end is not, because CDR has none there.
    assert_eq!(plain(support(c"Inside", 16, vec![byte(0), double(8)])), (Some(16), 16));
    assert_eq!(plain(support(c"End", 16, vec![double(0), byte(8)])), (None, 9));
    let end = support(c"End", 16, vec![double(0), byte(8)]);
    assert_eq!(plain(support(c"Outer", 24, vec![nested(c"end", end, 0), byte(16)])), (None, 10));
    assert_eq!(plain(support(c"Points", 72, vec![nested(c"points", point(), 0).array(3)])), (Some(72), 72));
    assert_eq!(plain(support(c"Ends", 32, vec![nested(c"ends", end, 0).array(2)])), (None, 25));
    let array = field(c"data", ROS_TYPE_OCTET, 0).array(1 << 20);
    assert_eq!(
        plain(support(c"Array1m", (1 << 20) + 8, vec![array, double(1 << 20)])),
        (Some((1 << 20) + 8), (1 << 20) + 8)
    );
    assert_eq!(plain(texts_support()), (None, usize::MAX));
}

#[test]
fn padding_in_memory_is_not_shown() {
    let message_type = resolve(small());
    let mut message = std::mem::MaybeUninit::<Small>::uninit();
    unsafe { message.as_mut_ptr().write_bytes(0xee, 1) };
    let body = written(&message_type, &message).unwrap();
    assert_eq!(body[1..8], [0; 7]);
    assert_eq!(body.len(), 18);
}

#[test]
fn unusable_types_are_refused_by_name() {
    let refused = |fields| unsafe { MessageType::new(support(c"Odd", 16, fields)) }.err().unwrap().sentence;
    let sentence = refused(vec![field(c"big", ROS_TYPE_LONG_DOUBLE, 0)]);
    assert!(sentence.contains("test_msgs/msg/Odd") && sentence.contains("`big`: it is a long double"), "{sentence}");
    let sentence = refused(vec![field(c"far", ROS_TYPE_DOUBLE, 12)]);
    assert!(sentence.contains("8 bytes at offset 12 of a struct of 16"), "{sentence}");
    assert!(refused(vec![field(c"odd", 99, 0)]).contains("99"));
    let mut other = unsafe { std::ptr::read(point()) };
    other.typesupport_identifier = c"rosidl_typesupport_fastrtps_c".as_ptr();
    let failure = unsafe { MessageType::new(&raw const other) }.err().unwrap();
    assert_eq!(failure.code, RMW_RET_INVALID_ARGUMENT);
    assert!(failure.sentence.contains("rosidl_typesupport_fastrtps_c"), "{}", failure.sentence);
    assert_eq!(unsafe { MessageType::new(std::ptr::null()) }.err().unwrap().code, RMW_RET_INVALID_ARGUMENT);
}

#[test]
fn serialized_messages_have_an_encapsulation() {
    assert_eq!(serialized::body(&[0, 1, 0, 0, 5, 6]).unwrap(), [5, 6]);
    for (bytes, why) in [(&[0, 1, 0][..], "3 bytes"), (&[0, 0, 0, 0], "big-endian"), (&[0, 7, 0, 0], "XCDR2")] {
        let sentence = serialized::body(bytes).unwrap_err().sentence;
        assert!(sentence.contains(why), "{sentence}");
    }
    unsafe extern "C" fn reallocate(
        at: *mut std::ffi::c_void,
        size: usize,
        _: *mut std::ffi::c_void,
    ) -> *mut std::ffi::c_void {
        unsafe { libc::realloc(at, size) }
    }
    let mut array: rmw_serialized_message_t = unsafe { zeroed() };
    array.allocator.reallocate = Some(reallocate);
    for body_bytes in [3, 100, 1] {
        unsafe { serialized::resize(&raw mut array, body_bytes) }.unwrap().fill(7);
        let bytes = unsafe { serialized::bytes(&raw const array) }.unwrap();
        assert_eq!(serialized::body(bytes).unwrap(), vec![7; body_bytes]);
    }
    assert_eq!(array.buffer_capacity, 104);
    unsafe { libc::free(array.buffer.cast()) };
}
