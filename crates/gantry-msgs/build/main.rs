//! The build script. It generates the Rust code for the packages, a macro that lists all messages, and code for tests.

mod by_field;

use gantry_idl::{Definitions, Errors, compile_to, export};
use std::{fmt::Write as _, path::PathBuf};

fn main() -> Result<(), Errors> {
    export("packages");
    let current = compile_to("packages", "messages.rs")?;
    let before = compile_to("packages-1.x", "messages_v1.rs")?;
    put_behind_features("messages.rs");
    put_behind_features("messages_v1.rs");
    let list = format!("{}{}", lines(&current, "$crate"), lines(&before, "$crate::v1"));
    let code = format!(
        "/// Invokes `$work! {{ path }}` for the path of every message type of the crate.\n#[cfg(feature = \"all\")]\n\
         #[macro_export]\nmacro_rules! for_each_message {{\n    ($work:path) => {{\n        use $work as __work;\n{list}    }};\n}}\n"
    );
    write("for_each_message.rs", &code);
    write("by_field.rs", &by_field::code(&[(&current, "gantry_msgs"), (&before, "gantry_msgs::v1")]));
    Ok(())
}

/// Puts the module of each package behind the feature with the same name.
fn put_behind_features(file_name: &str) {
    let path = out().join(file_name);
    let code = std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let mut gated = String::with_capacity(code.len());
    for line in code.lines() {
        if let Some(package) = line.strip_prefix("pub mod ").and_then(|rest| rest.strip_suffix(" {")) {
            let _ = writeln!(gated, "#[cfg(feature = {package:?})]");
        }
        let _ = writeln!(gated, "{line}");
    }
    write(file_name, &gated);
}

fn write(file_name: &str, code: &str) {
    let path = out().join(file_name);
    std::fs::write(&path, code).unwrap_or_else(|error| panic!("{} cannot be written: {error}", path.display()));
}

fn out() -> PathBuf {
    std::env::var_os("OUT_DIR").unwrap_or_default().into()
}

fn lines(definitions: &Definitions, root: &str) -> String {
    let mut lines = String::new();
    for message in definitions.messages() {
        let name = &message.name;
        let _ = writeln!(lines, "        __work! {{ {root}::{}::{}::{} }}", name.package, name.namespace, name.name);
    }
    lines
}
