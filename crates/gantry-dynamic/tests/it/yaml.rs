//! Tests of whole messages in the form that `ros2 topic echo` prints, and of the options that shorten them.

use super::{Body, HEADER, message_type};
use gantry_cdr::ByteOrder::LittleEndian;
use gantry_dynamic::Yaml;

#[test]
fn an_image() {
    let body = Body::default().header(12, 34, "camera").u32(2).u32(1).text("rgb8").u8(0).u32(6).u32(6);
    let body = Body([&body.0[..], &[0, 1, 127, 128, 254, 255]].concat());
    let definition = "std_msgs/Header header\nuint32 height\nuint32 width\nstring encoding\nuint8 is_bigendian\nuint32 step\nuint8[] data\n";
    let expected = "\
header:
  stamp:
    sec: 12
    nanosec: 34
  frame_id: camera
height: 2
width: 1
encoding: rgb8
is_bigendian: 0
step: 6
data:
- 0
- 1
- 127
- 128
- 254
- 255
";
    assert_eq!(body.yaml(&(definition.to_owned() + HEADER)), expected);
}

#[test]
fn a_point_cloud() {
    let body = Body::default().header(u32::MAX, 0, "").u32(1).u32(2).u32(2);
    let body = body.text("x").u32(0).u8(7).u32(1).text("y").u32(4).u8(7).u32(1);
    let body = body.u8(0).u32(8).u32(0).u32(0).u8(1);
    let definition = "std_msgs/Header header\nuint32 height\nuint32 width\nPointField[] fields\nbool is_bigendian\n\
        uint32 point_step\nuint32 row_step\nuint8[] data\nbool is_dense\n===\nMSG: test/PointField\nuint8 FLOAT32=7\n\
        string name\nuint32 offset\nuint8 datatype\nuint32 count\n";
    let expected = "\
header:
  stamp:
    sec: -1
    nanosec: 0
  frame_id: ''
height: 1
width: 2
fields:
- name: x
  offset: 0
  datatype: 7
  count: 1
- name: y
  offset: 4
  datatype: 7
  count: 1
is_bigendian: false
point_step: 8
row_step: 0
data: []
is_dense: true
";
    assert_eq!(body.yaml(&(definition.to_owned() + HEADER)), expected);
}

#[test]
fn a_joint_state() {
    let body = Body::default().header(1, 2, "1").u32(2).text("left: wheel").text("no");
    let body = body.u32(2).f64(0.1).f64(-1e-5).u32(0).u32(1).f64(f64::NAN);
    let definition =
        "std_msgs/Header header\nstring[] name\nfloat64[] position\nfloat64[] velocity\nfloat64[] effort\n";
    let expected = "\
header:
  stamp:
    sec: 1
    nanosec: 2
  frame_id: '1'
name:
- 'left: wheel'
- 'no'
position:
- 0.1
- -1.0e-05
velocity: []
effort:
- .nan
";
    assert_eq!(body.yaml(&(definition.to_owned() + HEADER)), expected);
}

#[test]
fn a_diagnostic_array() {
    let body = Body::default().header(0, 0, "").u32(2);
    let body = body.u8(1).text("motor").text("too hot").text("").u32(1).text("temperature").text("81.5");
    let body = body.u8(0).text("fan").text("line 1\nline 2").text("id").u32(0);
    let definition = "std_msgs/Header header\nStatus[] status\n===\nMSG: test/Status\nbyte level\nstring name\nstring message\n\
        string hardware_id\nKeyValue[] values\n===\nMSG: test/KeyValue\nstring key\nstring value\n";
    let expected = "\
header:
  stamp:
    sec: 0
    nanosec: 0
  frame_id: ''
status:
- level: \"\\x01\"
  name: motor
  message: too hot
  hardware_id: ''
  values:
  - key: temperature
    value: '81.5'
- level: \"\\0\"
  name: fan
  message: 'line 1

    line 2'
  hardware_id: id
  values: []
";
    assert_eq!(body.yaml(&(definition.to_owned() + HEADER)), expected);
}

#[test]
fn empty_messages() {
    assert_eq!(Body(vec![0]).yaml(""), "{}\n");
    let body = Body(vec![0, 0, 0, 0, 1, 0, 0, 0, 0]);
    let definition = "Empty one\nEmpty[] list\n===\nMSG: test/Empty\n";
    assert_eq!(body.yaml(definition), "one: {}\nlist:\n- {}\n");
}

/// A writer that records the length of its longest piece, and the total length.
#[derive(Default)]
struct Pieces {
    longest: usize,
    all: usize,
}

impl std::fmt::Write for Pieces {
    fn write_str(&mut self, piece: &str) -> std::fmt::Result {
        self.longest = self.longest.max(piece.len());
        self.all += piece.len();
        Ok(())
    }
}

#[test]
fn a_large_message_is_written_piece_by_piece() {
    let body = Body([&100_000_u32.to_le_bytes()[..], &[200; 100_000]].concat());
    let message_type = message_type("uint8[] data");
    let mut pieces = Pieces::default();
    Yaml::FULL_LENGTH.write(&message_type.view(&body.0, LittleEndian).unwrap(), &mut pieces).unwrap();
    assert_eq!(pieces.all, "data:\n".len() + 100_000 * "- 200\n".len());
    assert!(pieces.longest < 100, "a piece of {} bytes", pieces.longest);
}

/// The definition of a message with texts and lists that can be shortened.
const LONG: &str = "string text\nwstring wide\nuint8[] bytes\nPoint[<=9] points\nstring[2] names\nbool[] flags\nbyte level\n\
    ===\nMSG: test/Point\nfloat64 x";

fn long(yaml: Yaml) -> String {
    let body = Body::default().text("héllo").u32(3).u32(0x61).u32(0xd83d).u32(0xde00).u32(3).u8(1).u8(2).u8(3);
    let body = body.u32(2).f64(1.0).f64(2.0).text("one").text("two").u32(0).u8(b'x');
    let mut text = String::new();
    yaml.write(&message_type(LONG).view(&body.0, LittleEndian).unwrap(), &mut text).unwrap();
    text
}

#[test]
fn long_texts_and_lists_are_shortened() {
    let yaml = |length| long(Yaml { truncate_length: Some(length), ..Yaml::default() });
    let expected = "text: hé...\nwide: a😀\nbytes:\n- 1\n- 2\n- '...'\npoints:\n- x: 1.0\n- x: 2.0\nnames:\n- on...\n- tw...\nflags: []\nlevel: x\n";
    assert_eq!(yaml(2), expected);
    let expected =
        "text: '...'\nwide: '...'\nbytes:\n- '...'\npoints:\n- '...'\nnames:\n- '...'\nflags: []\nlevel: '...'\n";
    assert_eq!(yaml(0), expected);
    assert_eq!(yaml(5), long(Yaml::FULL_LENGTH));
}

#[test]
fn a_list_of_129_is_shortened_unless_full_length_is_set() {
    let body = Body([&129_u32.to_le_bytes()[..], &[7; 129]].concat());
    let message_type = message_type("uint8[] data");
    let message = message_type.view(&body.0, LittleEndian).unwrap();
    assert_eq!(message.to_string(), format!("data:\n{}- '...'\n", "- 7\n".repeat(128)));
    let mut full = String::new();
    Yaml::FULL_LENGTH.write(&message, &mut full).unwrap();
    assert_eq!(full, format!("data:\n{}", "- 7\n".repeat(129)));
}

#[test]
fn lists_can_be_left_out() {
    assert_eq!(
        long(Yaml { no_arrays: true, ..Yaml::default() }),
        "text: héllo\nwide: a😀\nbytes: '<sequence type: uint8, length: 3>'\n\
         points: '<sequence type: test/msg/Point[9], length: 2>'\nnames: '<array type: string[2]>'\n\
         flags: '<sequence type: boolean, length: 0>'\nlevel: x\n"
    );
}

#[test]
fn texts_can_be_left_out() {
    let expected = "text: '<string length: <5>>'\nwide: '<string length: <2>>'\nbytes:\n- 1\n- 2\n- 3\npoints:\n- x: 1.0\n- x: 2.0\n\
        names:\n- '<string length: <3>>'\n- '<string length: <3>>'\nflags: []\nlevel: x\n";
    assert_eq!(long(Yaml { no_strings: true, ..Yaml::default() }), expected);
}
