//! Tests of the generated OMG IDL. `.ci/interop` compiles this IDL and compares bytes.

use crate::{name, read_folder};
use gantry_idl::{Definitions, dds_idl};

const HEAD: &str = "// OMG IDL 4.2. The XCDR1 of these types is the CDR of ROS 2's messages of the same names.\n";

/// The OMG IDL of a message `a/msg/Test` with this definition, without the first line.
fn idl(text: &str) -> String {
    let definitions = Definitions::from_text(&name("a/msg/Test"), text).unwrap();
    dds_idl([&definitions]).strip_prefix(HEAD).unwrap().to_owned()
}

#[test]
fn nested_messages_come_first_and_each_package_once() {
    let definitions = read_folder(&[
        ("my_robot/msg/Arm.msg", "Joint[2] joints\nstd_msgs/Header header\nJoint[<=3] more"),
        ("my_robot/msg/Joint.msg", "float64[] angles # [rad]"),
        ("my_robot/srv/Move.srv", "Arm target\n---\n"),
        ("std_msgs/msg/Header.msg", "string<=8 frame_id \"map\""),
    ])
    .unwrap();
    let expected = "
module std_msgs {
module msg { module dds_ {
  @final
  struct Header_ {
    string<8> frame_id;
  };
}; };
};

module my_robot {
module msg { module dds_ {
  @final
  struct Joint_ {
    sequence<double> angles;
  };
  @final
  struct Arm_ {
    my_robot::msg::dds_::Joint_ joints[2];
    std_msgs::msg::dds_::Header_ header;
    sequence<my_robot::msg::dds_::Joint_, 3> more;
  };
}; };
module srv { module dds_ {
  @final
  struct Move_Request_ {
    my_robot::msg::dds_::Arm_ target;
  };
  @final
  struct Move_Response_ {
    uint8 structure_needs_at_least_one_member;
  };
}; };
};
";
    assert_eq!(dds_idl([&definitions]), format!("{HEAD}{expected}"));
    assert_eq!(dds_idl([&definitions, &definitions]), format!("{HEAD}{expected}"), "each message stands once");
    assert_eq!(dds_idl([]), HEAD);
}

#[test]
fn each_type_has_one_of_idl() {
    let text = "bool a\nbyte b\nchar c\nfloat32 d\nfloat64 e\nint8 f\nuint8 g\nint16 h\nuint16 i\nint32 j\nuint32 k\nint64 l\n\
                uint64 m\nstring n\nstring<=4[] o\nstring<=4[<=5] p\nbool[3] q";
    let fields = "
    boolean a;
    octet b;
    uint8 c;
    float d;
    double e;
    int8 f;
    uint8 g;
    short h;
    unsigned short i;
    long j;
    unsigned long k;
    long long l;
    unsigned long long m;
    string n;
    sequence<string<4> > o;
    sequence<string<4>, 5> p;
    boolean q[3];
";
    assert!(idl(text).contains(&format!("  struct Test_ {{{fields}  }};\n")), "{}", idl(text));
}

/// In IDL, a `wstring` has two bytes for each unit, but ROS 2 writes four.
#[test]
fn a_wide_string_is_the_sequence_that_ros_2_writes() {
    let written = idl("wstring a\nwstring<=3 b\nwstring[] c\nwstring<=3[2] d");
    for line in [
        "sequence<unsigned long> a; // wstring: UTF-16 units, four bytes each\n",
        "sequence<unsigned long, 3> b; // ",
        "sequence<sequence<unsigned long> > c; // ",
        "sequence<unsigned long, 3> d[2]; // ",
    ] {
        assert!(written.contains(&format!("    {line}")), "{line} is not in\n{written}");
    }
}

#[test]
fn constants_are_in_a_module_beside_the_message() {
    let text = "bool ON=true\nint64 LEAST=-9223372036854775808\nfloat32 WHOLE=2\nfloat64 BIG=1e300\nfloat64 FAR=inf\n\
                string NAME=\"R 2\"\nstring QUOTED=\"say \\\"hi\\\"\"\nuint8 MAP=1\nwstring WIDE=\"w\"\nuint8 map";
    let expected = "
module a {
module msg { module dds_ {
  module Test_Constants {
    const boolean ON = TRUE;
    const long long LEAST = -9223372036854775808;
    const float WHOLE = 2.0;
    const double BIG = 1e300;
    // FAR: IDL cannot express the value.
    const string NAME = \"R 2\";
    // QUOTED: IDL cannot express the value.
    const uint8 _MAP = 1;
    // WIDE: IDL cannot express the value.
  };
  @final
  struct Test_ {
    uint8 _map;
  };
}; };
};
";
    assert_eq!(idl(text), expected);
}

/// IDL has no forward declarations for packages, so a package is written in two modules.
#[test]
fn packages_that_need_each_other_are_written_in_pieces() {
    let definitions =
        read_folder(&[("a/msg/Top.msg", "b/Middle x"), ("a/msg/Low.msg", "uint8 x"), ("b/msg/Middle.msg", "a/Low x")])
            .unwrap();
    let text = dds_idl([&definitions]);
    let at = |part: &str| text.find(part).unwrap();
    assert!(at("struct Low_ ") < at("struct Middle_ ") && at("struct Middle_ ") < at("struct Top_ "), "{text}");
    assert_eq!(text.matches("module a {").count(), 2, "{text}");
}
