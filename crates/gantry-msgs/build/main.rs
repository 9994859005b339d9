//! The build script: Rust code for the packages, a macro that lists all messages, and code for tests.

mod by_field;

use gantry_idl::{Definitions, Errors, compile_to, export};
use std::{fmt::Write as _, path::Path};

fn main() -> Result<(), Errors> {
    export("packages");
    let current = compile_to("packages", "messages.rs")?;
    let before = compile_to("packages-1.x", "messages_v1.rs")?;
    let list = format!("{}{}", lines(&current, "$crate"), lines(&before, "$crate::v1"));
    let code = format!(
        "/// Invokes `$work! {{ path }}` for the path of every message type of the crate.\n#[macro_export]\n\
         macro_rules! for_each_message {{\n    ($work:path) => {{\n        use $work as __work;\n{list}    }};\n}}\n"
    );
    write("for_each_message.rs", &code);
    write("by_field.rs", &by_field::code(&[(&current, "gantry_msgs"), (&before, "gantry_msgs::v1")]));
    Ok(())
}

fn write(file_name: &str, code: &str) {
    let out = std::env::var_os("OUT_DIR").unwrap_or_default();
    std::fs::write(Path::new(&out).join(file_name), code)
        .unwrap_or_else(|error| panic!("{} cannot be written to: {error}", out.display()));
}

fn lines(definitions: &Definitions, root: &str) -> String {
    let mut lines = String::new();
    for message in definitions.messages() {
        let name = &message.name;
        let _ = writeln!(lines, "        __work! {{ {root}::{}::{}::{} }}", name.package, name.namespace, name.name);
    }
    lines
}
