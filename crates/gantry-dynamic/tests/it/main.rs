//! Tests of messages whose definitions are known at run time, through the public API.

#![expect(clippy::unwrap_used, reason = "a test may panic")]

mod agreement;
mod damaged;
mod encode;
mod errors;
mod filters;
mod reading;
mod yaml;
mod yaml_scalars;

use gantry_cdr::ByteOrder;
use gantry_dynamic::MessageType;
use gantry_idl::Definitions;

/// Makes the type `test/msg/Test` from its definition. In the definition, a line `===` precedes each further type.
fn message_type(definition: &str) -> MessageType {
    let separator = "=".repeat(80);
    let definition: Vec<&str> =
        definition.lines().map(|line| if line == "===" { &separator } else { line.trim() }).collect();
    let name = "test/msg/Test".parse().unwrap();
    MessageType::new(&Definitions::from_text(&name, &definition.join("\n")).unwrap(), &name).unwrap()
}

/// A builder of CDR bodies that aligns numbers.
#[derive(Default)]
struct Body(Vec<u8>);

impl Body {
    fn number<const N: usize>(mut self, little_endian: [u8; N]) -> Self {
        self.0.resize(self.0.len().next_multiple_of(N), 0);
        self.0.extend(little_endian);
        self
    }

    fn u8(self, value: u8) -> Self {
        self.number([value])
    }

    fn u32(self, value: u32) -> Self {
        self.number(value.to_le_bytes())
    }

    fn f64(self, value: f64) -> Self {
        self.number(value.to_le_bytes())
    }

    fn text(self, text: &str) -> Self {
        let mut body = self.u32(text.len() as u32 + 1);
        body.0.extend(text.bytes().chain([0]));
        body
    }

    /// Writes a `std_msgs/Header`.
    fn header(self, sec: u32, nanosec: u32, frame_id: &str) -> Self {
        self.u32(sec).u32(nanosec).text(frame_id)
    }

    /// The YAML that `ros2 topic echo` would print for the body.
    fn yaml(&self, definition: &str) -> String {
        message_type(definition).view(&self.0, ByteOrder::LittleEndian).unwrap().to_string()
    }
}

/// The end of a definition whose message has a header.
const HEADER: &str = "===
    MSG: std_msgs/Header
    builtin_interfaces/Time stamp
    string frame_id
===
    MSG: builtin_interfaces/Time
    int32 sec
    uint32 nanosec
    ";
