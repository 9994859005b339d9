//! Tests of reading `.msg` and `.srv` files through the public API.

#![expect(clippy::unwrap_used, reason = "tests")]

mod dds_idl;
mod errors;
mod hashes;
mod layout;
mod packages;
mod robustness;
mod syntax;
mod text;

use gantry_idl::{Definitions, Errors, Field, MessageDefinition, TypeName};

fn name(text: &str) -> TypeName {
    text.parse().unwrap()
}

/// Reads a folder of packages with the files `files`, each a path `package/msg/Name.msg` and a text.
fn read_folder(files: &[(&str, &str)]) -> Result<Definitions, Errors> {
    let folder = tempfile::tempdir().unwrap();
    for (path, text) in files {
        let path = folder.path().join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }
    Definitions::read_packages(&[folder.path()])
}

/// The message `my_robot/msg/Test` with the definition `text`.
fn message(text: &str) -> MessageDefinition {
    let name = name("my_robot/msg/Test");
    let definitions = Definitions::from_text(&name, text).unwrap_or_else(|errors| panic!("{errors}"));
    definitions.message(&name).unwrap().clone()
}

/// The only field of a message with the definition `text`.
fn field(text: &str) -> Field {
    let mut message = message(text);
    assert_eq!(message.fields.len(), 1, "{message:?}");
    message.fields.remove(0)
}
