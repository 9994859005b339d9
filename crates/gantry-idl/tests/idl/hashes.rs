//! Tests of RIHS01 hashes, which are compared with published hashes.
//!
//! Most hashes of messages come from rosbags 0.11.9 on PyPI (`get_typestore(Stores.ROS2_JAZZY).hash_rihs01(name)`). For
//! `char`, rosbags differs from ROS 2, which hashes it as `uint8`. The hashes of messages with a `char`, of services
//! and of all kinds of strings come from ROS 2's own `rosidl_generator_type_description` (github.com/ros2/rosidl,
//! 95739d5; `WideLists`: Jazzy's 4.6.6), run on these texts. Further sources:
//! - `std_msgs/msg/String` and `example_interfaces/srv/AddTwoInts`: github.com/ros2/rmw_zenoh, `docs/design.md`;
//! - `std_srvs/srv/SetBool`: github.com/Pico-ROS/Pico-ROS-software, issue 22, from a log of ROS 2;
//! - `service_msgs/msg/ServiceEventInfo`: code that ROS 2 generated for a service, in
//!   github.com/Jeulin-git/Robotics-Manipulator-ComputerVision,
//!   `build/haircutterbot_msgs/…/add_two_ints__description.c`.

use crate::{name, read_folder};
use gantry_idl::Definitions;

const FILES: [(&str, &str); 25] = [
    ("builtin_interfaces/msg/Time.msg", "int32 sec\nuint32 nanosec"),
    ("example_interfaces/srv/AddTwoInts.srv", "int64 a\nint64 b\n---\nint64 sum"),
    ("geometry_msgs/msg/Point.msg", "float64 x\nfloat64 y\nfloat64 z"),
    ("geometry_msgs/msg/Pose.msg", "Point position\nQuaternion orientation"),
    ("geometry_msgs/msg/PoseWithCovariance.msg", "Pose pose\nfloat64[36] covariance"),
    ("geometry_msgs/msg/Quaternion.msg", "float64 x 0\nfloat64 y 0\nfloat64 z 0\nfloat64 w 1"),
    (
        "sensor_msgs/msg/Image.msg",
        "std_msgs/Header header\nuint32 height\nuint32 width\nstring encoding\nuint8 is_bigendian\nuint32 step\nuint8[] data",
    ),
    (
        "sensor_msgs/msg/LaserScan.msg",
        "std_msgs/Header header\nfloat32 angle_min\nfloat32 angle_max\nfloat32 angle_increment\nfloat32 time_increment\n\
         float32 scan_time\nfloat32 range_min\nfloat32 range_max\nfloat32[] ranges\nfloat32[] intensities",
    ),
    (
        "sensor_msgs/msg/NavSatFix.msg",
        "std_msgs/Header header\nNavSatStatus status\nfloat64 latitude\nfloat64 longitude\nfloat64 altitude\n\
         float64[9] position_covariance\nuint8 COVARIANCE_TYPE_KNOWN = 3\nuint8 position_covariance_type",
    ),
    ("sensor_msgs/msg/NavSatStatus.msg", "int8 STATUS_FIX = 0\nint8 status -2\nuint16 service"),
    (
        "sensor_msgs/msg/PointCloud2.msg",
        "std_msgs/Header header\nuint32 height\nuint32 width\nPointField[] fields\nbool is_bigendian\nuint32 point_step\n\
         uint32 row_step\nuint8[] data\nbool is_dense",
    ),
    ("sensor_msgs/msg/PointField.msg", "string name\nuint32 offset\nuint8 datatype\nuint32 count"),
    (
        "service_msgs/msg/ServiceEventInfo.msg",
        "uint8 REQUEST_SENT = 0\nuint8 event_type\nbuiltin_interfaces/Time stamp\nchar[16] client_gid\nint64 sequence_number",
    ),
    ("std_msgs/msg/ByteMultiArray.msg", "MultiArrayLayout layout\nbyte[] data"),
    ("std_msgs/msg/Char.msg", "char data"),
    ("std_msgs/msg/Empty.msg", "# Nothing."),
    ("std_msgs/msg/Header.msg", "builtin_interfaces/Time stamp\nstring frame_id"),
    ("std_msgs/msg/MultiArrayDimension.msg", "string label\nuint32 size\nuint32 stride"),
    ("std_msgs/msg/MultiArrayLayout.msg", "MultiArrayDimension[] dim\nuint32 data_offset"),
    ("std_msgs/msg/String.msg", "string data"),
    ("std_srvs/srv/Empty.srv", "---"),
    ("std_srvs/srv/SetBool.srv", "bool data\n---\nbool success\nstring message"),
    (
        "test/msg/Kinds.msg",
        "bool a\nbyte b\nchar c\nfloat32 d\nfloat64 e\nint8 f\nuint8 g\nint16 h\nuint16 i\nint32 j\nuint32 k\nint64 l\n\
         uint64 m\nstring n\nstring<=10 o\nbool[3] p\nbyte[3] q\nfloat32[<=4] r\nstring[] s\nstring<=10[] t\n\
         string<=10[<=5] u\nstring<=10[2] v\nbuiltin_interfaces/Time[2] w\nbuiltin_interfaces/Time[] x\n\
         builtin_interfaces/Time[<=7] y\nuint64[] z",
    ),
    ("test/msg/Wide.msg", "wstring a\nwstring<=3 b\nwstring[] c\nwstring<=4[<=3] d\nwstring[2] e\nchar[<=3] f"),
    ("test/msg/WideLists.msg", "wstring<=5[] a\nwstring<=4[<=3] b\nwstring<=3[2] c\nstring<=2[] d"),
];

const HASHES: [(&str, &str); 23] = [
    ("builtin_interfaces/msg/Time", "b106235e25a4c5ed35098aa0a61a3ee9c9b18d197f398b0e4206cea9acf9c197"),
    ("example_interfaces/srv/AddTwoInts", "e118de6bf5eeb66a2491b5bda11202e7b68f198d6f67922cf30364858239c81a"),
    ("geometry_msgs/msg/Point", "6963084842a9b04494d6b2941d11444708d892da2f4b09843b9c43f42a7f6881"),
    ("geometry_msgs/msg/Pose", "d501954e9476cea2996984e812054b68026ae0bfae789d9a10b23daf35cc90fa"),
    ("geometry_msgs/msg/PoseWithCovariance", "9a7c0fd234b7f45c6098745ecccd773ca1085670e64107135397aee31c02e1bb"),
    ("geometry_msgs/msg/Quaternion", "8a765f66778c8ff7c8ab94afcc590a2ed5325a1d9a076ffff38fbce36f458684"),
    ("sensor_msgs/msg/Image", "d31d41a9a4c4bc8eae9be757b0beed306564f7526c88ea6a4588fb9582527d47"),
    ("sensor_msgs/msg/LaserScan", "64c191398013af96509d518dac71d5164f9382553fce5c1f8cca5be7924bd828"),
    ("sensor_msgs/msg/NavSatFix", "62223ab3fe210a15976021da7afddc9e200dc9ec75231c1b6a557fc598a65404"),
    ("sensor_msgs/msg/PointCloud2", "9198cabf7da3796ae6fe19c4cb3bdd3525492988c70522628af5daa124bae2b5"),
    ("sensor_msgs/msg/PointField", "5c6a4750728c2bcfbbf7037225b20b02d4429634732146b742dee1726637ef01"),
    ("service_msgs/msg/ServiceEventInfo", "41bcbbe07a75c9b52bc96bfd5c24d7f0fc0a08c0cb7921b3373c5732345a6f45"),
    ("std_msgs/msg/ByteMultiArray", "972fec7f50ab3c1d06783c228e79e8a9a509021708c511c059926261ada901d4"),
    ("std_msgs/msg/Char", "3ad2d04dd29ba19d04b16659afa3ccaedd691914b02a64e82e252f2fa6a586a9"),
    ("std_msgs/msg/Empty", "20b625256f32d5dbc0d04fee44f43c41e51c70d3502f84b4a08e7a9c26a96312"),
    ("std_msgs/msg/Header", "f49fb3ae2cf070f793645ff749683ac6b06203e41c891e17701b1cb597ce6a01"),
    ("std_msgs/msg/String", "df668c740482bbd48fb39d76a70dfd4bd59db1288021743503259e948f6b1a18"),
    ("std_srvs/srv/Empty", "5888399dedec5ccc85ea6451949fd2c9f97bfdf963f9a588821639fcd31b5d19"),
    ("std_srvs/srv/SetBool", "abe9e4bb6b41b40e6789712c00ec8871923e089af3f667a79992a428cff2da0a"),
    ("haircutterbot_msgs/srv/AddTwoInts_Request", "19dd8f68c0f4a329372f16369b4c587d6f72e3c01d32f2afbedeba4a08a691ed"),
    ("test/msg/Kinds", "415ce9559821e507283432b31129a6b9a99d9a2009d33ac1878efde0acd550d2"),
    ("test/msg/Wide", "1e10eedc58030884c21d8c26b33ece3104bd72952d2c9e9ec0b15d1580438390"),
    ("test/msg/WideLists", "be1b47d124160dd08071b38312ad12825f6f3217ba8c8a9e95e0d317290153e0"),
];

fn hash(definitions: &Definitions, type_name: &str) -> String {
    let name = name(type_name);
    let hash = definitions.hash(&name).or_else(|| definitions.service_hash(&name));
    hash.unwrap_or_else(|| panic!("no {name}")).iter().map(|byte| format!("{byte:02x}")).collect()
}

#[test]
fn hashes_are_those_of_ros_2() {
    let mut files = FILES.to_vec();
    files.push(("haircutterbot_msgs/srv/AddTwoInts.srv", "# Request\nint64 a\nint64 b\n---\n# Response\nint64 sum"));
    let definitions = read_folder(&files).unwrap();
    for (name, expected) in HASHES {
        assert_eq!(hash(&definitions, name), expected, "{name}");
    }
    assert_eq!(
        hash(&definitions, "haircutterbot_msgs/srv/AddTwoInts"),
        "7aacb78dd4c887b231e58868919e2cec9c84ebebae861280ce24fd8da3789dd3"
    );
}

#[test]
fn a_services_hash_needs_no_other_package() {
    let definitions = read_folder(&[FILES[1]]).unwrap();
    assert_eq!(hash(&definitions, HASHES[1].0), HASHES[1].1);
}

#[test]
fn an_unknown_type_has_no_hash() {
    let definitions = read_folder(&[FILES[0], FILES[1]]).unwrap();
    assert_eq!(definitions.hash(&name("builtin_interfaces/msg/Duration")), None);
    assert_eq!(definitions.hash(&name("example_interfaces/srv/AddTwoInts")), None);
    assert_eq!(definitions.service_hash(&name("builtin_interfaces/msg/Time")), None);
}
