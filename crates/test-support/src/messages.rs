//! The fuzz targets for messages and definitions. `cargo test` also runs them on the corpus.
//!
//! A target panics if its input gives neither a message nor an error.

use gantry_dynamic::{Filter, MessageType, Yaml};
use gantry_idl::Definitions;
use gantry_msgs::{
    diagnostic_msgs::msg::DiagnosticArray,
    example_interfaces::msg::WString,
    gantry_cdr::{AlignedBytes, ByteOrder, Message, View},
    nav_msgs::msg::Odometry,
    performance_test::msg::{BoundedSequence1k, Struct256},
    sensor_msgs::msg::{JointState, MultiEchoLaserScan, PointCloud2},
    std_srvs::srv::SetBool_Response,
};
use std::fmt::{Debug, Write};

/// A fuzz target.
pub type Target = fn(&[u8]);

/// All targets with their names.
pub const TARGETS: &[(&str, Target)] = &[
    ("typed_views", typed_views),
    ("definitions", definitions),
    ("dynamic_views", dynamic_views),
    ("filters", filters),
];

/// The fuzz target for typed views of messages. The first byte of the input selects a type; the rest is the CDR body.
pub fn typed_views(input: &[u8]) {
    let Some((choice, body)) = input.split_first() else { return };
    match choice % 8 {
        0 => typed_view::<DiagnosticArray>(body),
        1 => typed_view::<WString>(body),
        2 => typed_view::<Odometry>(body),
        3 => typed_view::<BoundedSequence1k>(body),
        4 => typed_view::<Struct256>(body),
        5 => typed_view::<JointState>(body),
        6 => typed_view::<MultiEchoLaserScan>(body),
        _ => {
            typed_view::<PointCloud2>(body);
            typed_view::<SetBool_Response>(body);
        }
    }
}

/// Checks that the typed view, the dynamic view and the conversion to a struct accept the same bytes, and refuse other
/// bytes with the same error text.
fn typed_view<T: Message + Debug>(body: &[u8]) {
    let name = T::TYPE_NAME.parse().unwrap();
    let definitions = Definitions::from_text(&name, T::DEFINITION).unwrap();
    let message_type = MessageType::new(&definitions, &name).unwrap();
    let memory = AlignedBytes::copy_of(body);
    let mut copy = T::new_box();
    let copied = copy.read_body(body, ByteOrder::LittleEndian);
    match (T::view(&memory), message_type.view(body, ByteOrder::LittleEndian)) {
        (Ok(view), Ok(dynamic)) => {
            copied.unwrap();
            let message = view.to_message().unwrap();
            assert_eq!(format!("{message:?}"), format!("{copy:?}"));
            Yaml::FULL_LENGTH.write(&dynamic, &mut String::new()).unwrap();
            // The message must be the same after it is serialised and read again.
            let again = AlignedBytes::copy_of(&message.to_cdr().unwrap()[4..]);
            let again = T::view(&again).unwrap().to_message().unwrap();
            assert_eq!(format!("{message:?}"), format!("{again:?}"));
        }
        (Err(typed), Err(dynamic)) => {
            assert_eq!(typed.to_string(), dynamic.to_string());
            copied.unwrap_err();
        }
        (typed, dynamic) => panic!("typed: {:?}, dynamic: {:?}", typed.map(drop), dynamic.map(drop)),
    }
    // Reading in big-endian order must not panic, although most lengths are then too large.
    let _ = T::new_box().read_body(body, ByteOrder::BigEndian);
}

/// The fuzz target for message definitions. The input is the text of a definition.
pub fn definitions(input: &[u8]) {
    let text = String::from_utf8_lossy(input);
    let name = "fuzz_msgs/msg/Fuzz".parse().unwrap();
    match Definitions::from_text(&name, &text) {
        Ok(definitions) => {
            let canonical = definitions.definition_text(&name).unwrap();
            let again = Definitions::from_text(&name, &canonical).unwrap();
            assert_eq!(again.definition_text(&name).as_deref(), Some(&canonical[..]));
            assert_eq!(again.hash(&name), definitions.hash(&name));
            assert_eq!(again.max_size_bytes(&name), definitions.max_size_bytes(&name));
            assert_eq!(again.is_plain(&name), definitions.is_plain(&name));
            MessageType::new(&definitions, &name).unwrap();
        }
        Err(errors) => assert!(!errors.to_string().is_empty()),
    }
}

/// The fuzz target for dynamic views of messages. The input is a definition, a byte 0xff, and the body of a message
/// with this definition.
pub fn dynamic_views(input: &[u8]) {
    let end = input.iter().position(|byte| *byte == 0xff).unwrap_or(input.len());
    let (text, body) = (String::from_utf8_lossy(&input[..end]), input.get(end + 1..).unwrap_or_default());
    let name = "fuzz_msgs/msg/Fuzz".parse().unwrap();
    let Ok(definitions) = Definitions::from_text(&name, &text) else { return };
    let message_type = MessageType::new(&definitions, &name).unwrap();
    for order in [ByteOrder::LittleEndian, ByteOrder::BigEndian] {
        match message_type.view(body, order) {
            Ok(message) => {
                // Bytes beyond the largest size of a message must not change the result.
                let most = definitions.max_size_bytes(&name).unwrap_or(usize::MAX).saturating_add(3);
                let whole = message_type.view(&body[..body.len().min(most)], order).unwrap();
                assert_eq!(format!("{whole}"), format!("{message}"));
                for (field, _) in message.fields() {
                    assert!(message.get(&field.name).is_some(), "{}", field.name);
                }
                assert_eq!(message.fields().count(), message.definition().fields.len());
                let mut text = String::new();
                Yaml::FULL_LENGTH.write(&message, &mut text).unwrap();
                write!(text, "{message}{message:?}").unwrap();
            }
            Err(error) => assert!(error.offset_bytes() <= body.len() + 8),
        }
    }
}

/// The fuzz target for content filters. The input is a filter expression, a line break, and the body of a message.
pub fn filters(input: &[u8]) {
    const DEFINITION: &str = "string name\nbool is_on\nchar letter\nint32 count\nfloat32 speed\nfloat64[] ranges\n\
                              string[2] tags\nwstring title\nuint64 total";
    let name = "fuzz_msgs/msg/Fuzz".parse().unwrap();
    let message_type = MessageType::new(&Definitions::from_text(&name, DEFINITION).unwrap(), &name).unwrap();
    let end = input.iter().position(|byte| *byte == b'\n').unwrap_or(input.len());
    let (expression, body) = input.split_at(end);
    let expression = String::from_utf8_lossy(expression);
    match (Filter::new(&message_type, &expression, &["1", "'a'"]), message_type.view(body, ByteOrder::LittleEndian)) {
        (Ok(filter), Ok(message)) => {
            // The negated expression must give the opposite result.
            let negated = Filter::new(&message_type, &format!("NOT ({expression})"), &["1", "'a'"]);
            if let Ok(negated) = negated {
                assert_ne!(filter.matches(&message), negated.matches(&message));
            }
        }
        (Ok(_), Err(_)) => {}
        (Err(error), _) => assert!(!error.to_string().is_empty()),
    }
}
