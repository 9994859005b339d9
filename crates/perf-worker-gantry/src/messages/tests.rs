//! Tests of the names, sizes and stamps of messages.

use std::collections::BTreeSet;

use gantry::gantry_cdr::AlignedBytes;

use super::*;
use perf_worker::{backend::Draft, run_spec::Layout};

/// For each message, the `sizeof` of iRobot's original struct, and the bytes of Gantry's message. Gantry's message may
/// have fewer bytes, because C adds padding at the end of a struct and CDR does not.
const IROBOT: &[(&str, usize, usize)] = &[
    ("Stamped10b", 32, 30),
    ("Stamped50b", 72, 70),
    ("Stamped100b", 120, 120),
    ("Stamped250b", 272, 270),
    ("Stamped1kb", 1044, 1044),
    ("Stamped5kb", 5020, 5020),
    ("Stamped10kb", 10260, 10260),
    ("Stamped25kb", 25_020, 25_020),
    ("Stamped50kb", 51220, 51220),
    ("Stamped100kb", 102_420, 102_420),
    ("Stamped250kb", 256_020, 256_020),
    ("Stamped500kb", 512_020, 512_020),
    ("Stamped600kb", 614_420, 614_420),
    ("Stamped1mb", 1_048_596, 1_048_596),
    ("Stamped4mb", 4_194_324, 4_194_324),
    ("Stamped5mb", 5_120_020, 5_120_020),
    ("Stamped8mb", 8_388_628, 8_388_628),
    ("Stamped3Float32", 32, 32),
    ("Stamped4Float32", 36, 36),
    ("Stamped9Float32", 56, 56),
    ("Stamped12Float32", 68, 68),
    ("Stamped4Int32", 36, 36),
    ("StampedInt64", 32, 32),
    // 20 bytes of header and 4 bytes of length.
    ("StampedVector", 24, 24),
    ("Sample", 24, 21),
];

/// The `sizeof` of messages in both layouts. A sequence is preceded by its length and followed by up to 4 bytes of
/// padding.
const BOTH: &[(&str, usize)] = &[
    ("Struct16", 32),
    ("Struct256", 528),
    ("Struct4k", 8464),
    ("Struct32k", 67728),
    ("BoundedSequence1k", 1048),
    ("BoundedSequence4k", 4120),
    ("BoundedSequence16k", 16408),
    ("BoundedSequence32k", 32792),
    ("BoundedSequence64k", 65560),
    ("BoundedSequence256k", 262_168),
    ("BoundedSequence1m", 1_048_600),
    ("BoundedSequence2m", 2_097_176),
    ("BoundedSequence4m", 4_194_328),
    ("BoundedSequence8m", 8_388_632),
    ("UnboundedSequence", 24),
    ("UnboundedString", 24),
    ("PointCloud512k", 526_736),
    ("PointCloud1m", 1_051_024),
    ("PointCloud2m", 2_099_600),
    ("PointCloud4m", 4_196_752),
    ("PointCloud8m", 8_391_056),
];

const ONLY_V1: &[(&str, usize)] = &[
    ("Array1k", 1040),
    ("Array4k", 4112),
    ("Array16k", 16400),
    ("Array32k", 32784),
    ("Array60k", 61456),
    ("Array64k", 65552),
    ("Array256k", 262_160),
    ("Array1m", 1_048_592),
    ("Array2m", 2_097_168),
    ("Array4m", 4_194_320),
    ("Array8m", 8_388_624),
    ("NavSatFix", 392),
    ("Range", 304),
    ("RadarDetection", 80),
    ("RadarTrack", 840),
];

const ONLY_V2: &[(&str, usize)] = &[
    ("Array32", 32),
    ("Array64", 64),
    ("Array128", 128),
    ("Array256", 256),
    ("Array512", 512),
    ("Array1k", 1024),
    ("Array4k", 4096),
    ("Array16k", 16384),
    ("Array32k", 32768),
    ("Array60k", 61440),
    ("Array64k", 65536),
    ("Array256k", 262_144),
    ("Array1m", 1_048_576),
    ("Array2m", 2_097_152),
    ("Array4m", 4_194_304),
    ("Array8m", 8_388_608),
];

#[test]
fn there_is_every_message_of_the_originals_in_its_size() {
    for (layout, only) in [(Layout::V1, ONLY_V1), (Layout::V2, ONLY_V2)] {
        let irobot = IROBOT.iter().map(|(name, _, bytes)| (*name, *bytes));
        let expected: BTreeSet<_> = only.iter().chain(BOTH).copied().chain(irobot).collect();
        let found: BTreeSet<_> = list(layout, 0).map(|found| (found.name, found.bytes)).collect();
        assert_eq!(found, expected, "{layout:?}");
    }
    for (name, size_of, bytes) in IROBOT {
        assert_eq!(bytes.next_multiple_of(if *name == "StampedInt64" { 8 } else { 4 }), *size_of, "{name}");
    }
}

#[test]
fn the_unbounded_size_is_the_payload_of_messages_of_variable_size() {
    for (name, content, bytes) in [
        // 4 bytes of length, the payload, padding to a multiple of 8, time and id.
        ("UnboundedSequence", Content::Sequence, 4 + 1000 + 4 + 16),
        // The terminating 0 counts as a byte of the string.
        ("UnboundedString", Content::Text, 4 + 1001 + 3 + 16),
        ("StampedVector", Content::Sequence, 20 + 4 + 1000),
        ("BoundedSequence1k", Content::BoundedSequence, 1048),
    ] {
        let found = find(name, Layout::V2, 1000).unwrap();
        assert_eq!((found.content, found.bytes), (content, bytes), "{name}");
    }
}

#[test]
fn only_equal_types_of_the_generations_match() {
    let hash = |name, layout| (message_type(name, layout).unwrap().description)(0).hash;
    let hashes = |name| [Layout::V1, Layout::V2].map(|layout| hash(name, layout));
    for name in ["Array1k", "Array4m", "PointCloud1m"] {
        let [before, now] = hashes(name);
        assert_ne!(before, now, "{name}");
        assert!(before != [0; 32] && now != [0; 32], "{name}");
        let types = [Layout::V1, Layout::V2].map(|layout| find(name, layout, 0).unwrap().type_name);
        assert_eq!(types[0], types[1]);
    }
    // These messages are listed once for both layouts.
    macro_rules! alike {
        ($($name:ident)+) => {
            $(assert_eq!(
                gantry_msgs::v1::performance_test::msg::$name::TYPE_HASH,
                gantry_msgs::performance_test::msg::$name::TYPE_HASH,
            );)+
        };
    }
    alike!(Struct16 Struct256 Struct4k Struct32k UnboundedSequence UnboundedString BoundedSequence1k BoundedSequence4k
           BoundedSequence16k BoundedSequence32k BoundedSequence64k BoundedSequence256k BoundedSequence1m BoundedSequence2m
           BoundedSequence4m BoundedSequence8m);
}

/// A draft that returns this stamp and writes no payload.
struct Stamping(Stamp);

impl Draft for Stamping {
    fn write(&mut self, _: &mut [u8]) {}

    fn stamp(&mut self) -> Stamp {
        self.0
    }
}

/// Stamps an owned message and a loan, and checks their bytes.
fn check_stamps(known: &MessageType) {
    let name = known.type_name;
    let mut message = (known.prepared)(100);
    let stamp = Stamp { time_ns: 3_000_000_007, id: (1 << 32) + 5, rate_hz: 100 };
    message.write(&mut Stamping(stamp));
    let mut body = AlignedBytes::zeroed(message.body_bytes().unwrap());
    message.write_body(body.as_mut()).unwrap();
    let bytes = body.as_ref().len();
    let expected = Stamped { time_ns: stamp.time_ns, id: stamp.id & known.last_id };
    assert_eq!(message.stamped(), expected, "{name}");
    assert_eq!(message.loan_bytes().unwrap(), bytes, "{name}");
    if known.last_id == u64::MAX {
        let (_, end) = body.as_ref().split_at(bytes - 16);
        assert_eq!(end, [3_000_000_007_u64.to_le_bytes(), stamp.id.to_le_bytes()].concat(), "{name}");
    } else {
        let payload_bytes = match known.content {
            Content::Sequence => 100,
            _ => bytes.saturating_sub(if name.ends_with("StampedInt64") { 24 } else { 20 }),
        };
        let words = [3, 7, 5, 100_f32.to_bits(), payload_bytes as u32];
        assert_eq!(body.as_ref()[..20], words.map(u32::to_le_bytes).concat(), "{name}");
    }
    let mut loan = AlignedBytes::zeroed(bytes);
    message.write_loan(loan.as_mut(), &mut Stamping(stamp)).unwrap();
    assert!(loan.as_ref() == body.as_ref(), "{name}: a loan has other bytes than a copy");
    let mut short = AlignedBytes::zeroed(bytes - 8);
    assert!(message.write_loan(short.as_mut(), &mut Stamping(stamp)).is_err(), "{name}");
    let mut seen = None;
    (known.view)(loan.as_ref(), &mut |message| seen = Some((message.stamped, message.payload.len()))).unwrap();
    assert_eq!(seen, Some((expected, message.payload().len())), "{name}");
    let copy = (known.to_owned)(loan.as_ref()).unwrap();
    assert!((copy.stamped(), copy.payload()) == (expected, message.payload()), "{name}");
    let sentence = (known.view)(&loan.as_ref()[..8], &mut |_| panic!("{name} is too short")).unwrap_err();
    assert!(sentence.contains(name) && (known.to_owned)(&loan.as_ref()[..8]).is_err(), "{sentence}");
    message.touch();
    assert_eq!(message.body_bytes().unwrap(), bytes, "{name} is not as long as before");
}

#[test]
fn time_and_id_are_where_the_originals_have_them() {
    for layout in [Layout::V1, Layout::V2] {
        for found in list(layout, 0) {
            check_stamps(message_type(found.name, layout).unwrap());
        }
    }
}

#[test]
fn a_name_may_be_spelt_as_in_ros_2_and_in_topologies() {
    for (spelling, name) in [
        ("array4M", "Array4m"),
        ("performance_test/msg/Array4m", "Array4m"),
        ("performance_test/Array4m", "Array4m"),
        ("stamped9_float32", "Stamped9Float32"),
        ("stamped_vector", "StampedVector"),
        ("irobot_interfaces_plugin::stamped10b", "Stamped10b"),
        ("irobot_interfaces_plugin::stamped_int64", "StampedInt64"),
        ("irobot_interfaces_plugin/msg/Stamped8mb", "Stamped8mb"),
        ("performance_test_msgs::sample", "Sample"),
    ] {
        assert_eq!(find(spelling, Layout::V2, 0).unwrap().name, name, "{spelling}");
    }
}

#[test]
fn an_unknown_message_names_the_nearest_and_how_to_list() {
    for (wrong, nearest) in [
        ("Aray4m", "`Array4m`"),
        ("stampd_vector", "`StampedVector`"),
        ("UnboundString", "`UnboundedString`"),
        ("PointClod1m", "`PointCloud1m`"),
        // A message of this name exists, but in another package.
        ("performance_test::stamped10b", "`Stamped10b`"),
    ] {
        let sentence = find(wrong, Layout::V2, 0).unwrap_err();
        assert!(sentence.contains(nearest) && sentence.contains("--msg-list"), "{sentence}");
        assert!(sentence.contains(&format!("`{wrong}`")), "{sentence}");
    }
    for foreign in ["NavSatFix", "TwistStamped", "", "::", "/", "größe"] {
        let sentence = find(foreign, Layout::V2, 0).unwrap_err();
        assert!(!sentence.contains("nearest") && sentence.contains("--msg-list"), "{sentence}");
    }
    let sentence = find("Array128", Layout::V1, 0).unwrap_err();
    assert!(sentence.contains("1.x layout"), "{sentence}");
}
