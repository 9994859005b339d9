//! Test data for C++: bytes of messages that Rust made (default, random and damaged messages), and what Rust reads from
//! them. Rust has typed and dynamic views of messages, and a test of `gantry-msgs` proves that they agree; this file
//! uses the dynamic views.

use fastrand::Rng;
use gantry_cdr::ByteOrder::LittleEndian;
use gantry_dynamic::{MessageType, testing::random_body};
use gantry_idl::{Definitions, TypeName, cpp_headers};
use std::{fmt::Write, fs, path::Path};

/// The number of test messages of a type. It is smaller for large types, which take seconds, and 0 for the largest
/// ones.
fn messages(max_bytes: Option<usize>) -> usize {
    match max_bytes {
        Some(bytes) if bytes > 300_000 => 0,
        Some(bytes) if bytes > 20_000 => 2,
        _ => 12,
    }
}

/// The kind of a test message. It comes before the message in the data file.
#[repr(u8)]
enum Kind {
    /// Bytes that are not a message, and the error text for them. An empty text is not compared.
    Refused = 0,
    /// Bytes that are a message. There may be other bytes between or after its fields.
    Accepted = 1,
    /// A message that gets the same bytes when C++ builds it again from what it reads.
    Same = 2,
    /// The message with the default values of all fields.
    Default = 3,
    /// The end of the messages of this type.
    End = 4,
}

/// A generated message type: its name, its C++ type, and its header file.
pub struct Generated {
    name: String,
    path: String,
    header: String,
}

/// The definitions of the standard messages, and of test messages with unusual names.
pub fn definitions() -> Definitions {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let folders = ["gantry-msgs/packages", "gantry-idl/tests/ugly/packages"].map(|folder| crates.join(folder));
    Definitions::read_packages(&folders).unwrap()
}

/// Writes the C++ headers of all messages into `folder`.
pub fn write_headers(definitions: &Definitions, folder: &Path) -> Vec<Generated> {
    let mut types = Vec::new();
    for (header, text) in cpp_headers(definitions, |_| true).unwrap() {
        let path = folder.join(&header);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, &text).unwrap();
        for traits in text.split("struct gantry::message<").skip(1) {
            let path = traits.split_once("> {").unwrap().0.to_owned();
            let name = traits.split_once("name = \"").unwrap().1.split_once('"').unwrap().0.to_owned();
            types.push(Generated { name, path, header: header.clone() });
        }
    }
    types
}

/// The text of the C++ program that checks all messages.
pub fn program(types: &[Generated]) -> String {
    let mut text = "#include \"vectors.hpp\"\n".to_owned();
    types.iter().for_each(|message| writeln!(text, "#include <{}>", message.header).unwrap());
    text += "int main(int, char **argv) {\n    vectors::reader from(argv[1]);\n";
    types.iter().for_each(|message| writeln!(text, "    vectors::check<{}>(from);", message.path).unwrap());
    text + "    return 0;\n}\n"
}

/// The contents of the data file that the C++ program reads.
pub fn data(definitions: &Definitions, types: &[Generated]) -> Vec<u8> {
    let mut data = Vec::new();
    let mut rng = Rng::with_seed(7);
    for Generated { name, .. } in types {
        let parsed: TypeName = name.parse().unwrap();
        let message_type = MessageType::new(definitions, &parsed).unwrap();
        // Only types without large arrays are compared: the C++ builder does not set the elements of large arrays, but
        // YAML sets their default values.
        if definitions.max_size_bytes(&parsed).is_none_or(|bytes| bytes <= 4096) {
            let body = message_type.encode_yaml("{}").unwrap();
            if body.len() <= 4096 {
                add(&mut data, Kind::Default, &body, "");
            }
        }
        for _ in 0..messages(definitions.max_size_bytes(&parsed)) {
            let mut body = random_body(&message_type, &mut rng, LittleEndian);
            add(&mut data, Kind::Same, &body, "");
            match rng.u8(..3) {
                0 => body.truncate(rng.usize(..body.len())),
                1 => body.extend([0xff; 5]),
                _ => {
                    for _ in 0..rng.usize(1..4) {
                        let at = rng.usize(..body.len());
                        body[at] = if rng.bool() { rng.u8(..12) } else { rng.u8(..) };
                    }
                }
            }
            match message_type.view(&body, LittleEndian) {
                Ok(_) => add(&mut data, Kind::Accepted, &body, ""),
                Err(why) => {
                    let field =
                        if why.path().is_empty() { name.clone() } else { format!("`{}` of {name}", why.path()) };
                    let sentence = format!("{field} at byte {}: {}", why.offset_bytes(), why.problem());
                    add(&mut data, Kind::Refused, &body, &sentence);
                }
            }
        }
        add(&mut data, Kind::End, &[], "");
    }
    data
}

fn add(data: &mut Vec<u8>, kind: Kind, body: &[u8], sentence: &str) {
    data.push(kind as u8);
    for bytes in [body, sentence.as_bytes()] {
        data.extend(u32::try_from(bytes.len()).unwrap().to_le_bytes());
        data.extend(bytes);
    }
}
