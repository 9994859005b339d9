//! The generator of Rust code for messages and services. Build scripts call it.
//!
//! The generator writes an owned struct for each message. The view of a plain message is the struct itself; any other
//! message also gets a shape and a view type (see `gantry_cdr`). The generated code only states the kind of each field,
//! and `gantry_cdr::kind` does the work.

mod advice;
mod base;
mod field;
mod kind;
mod message;
mod owned;
mod scope;
mod shapes;
mod text;
mod view;

use self::{scope::Scope, shapes::Shapes};
use crate::{
    definitions::Definitions,
    error::{Error, Errors, Location},
    name::{Namespace, TypeName},
};
use std::{
    collections::{BTreeMap, BTreeSet},
    fmt::Write as _,
    path::{Path, PathBuf},
};

/// The key under which [`export`] passes a folder through cargo to [`compile`] of dependent crates. Cargo sets the
/// variable `DEP_<LINKS>_GANTRY_PACKAGES`.
const EXPORT: &str = "gantry_packages";

/// Reads a folder of packages (`<folder>/<package>/{msg,srv}/*.{msg,srv}`) and writes Rust code for them to
/// `$OUT_DIR/messages.rs`. Each package becomes a module with the modules `msg` and `srv`. This is a complete
/// `build.rs`:
///
/// ```no_run
/// fn main() -> Result<(), gantry_idl::Errors> {
///     gantry_idl::compile("packages").map(drop)
/// }
/// ```
///
/// The library includes the code: `include!(concat!(env!("OUT_DIR"), "/messages.rs"));`. The crate needs `gantry-cdr`
/// as a dependency. Its messages may contain messages of a direct dependency that calls [`export`], such as
/// `gantry-msgs`.
///
/// # Errors
/// All errors in all files, in the form of compiler errors; or an error while writing the code.
pub fn compile(folder: impl AsRef<Path>) -> Result<Definitions, Errors> {
    compile_to(folder, "messages.rs")
}

/// Does the same as [`compile`], but writes to the file `file_name` in `$OUT_DIR`. This is for crates with several
/// folders whose packages have the same names.
///
/// # Errors
/// The same errors as [`compile`].
pub fn compile_to(folder: impl AsRef<Path>, file_name: &str) -> Result<Definitions, Errors> {
    let folder = folder.as_ref();
    println_cargo(&format!("rerun-if-changed={}", folder.display()));
    let exported = exported_packages()?;
    let mut folders = vec![folder.to_owned()];
    // A set, because several packages may have the same folder.
    let dependencies: BTreeSet<&PathBuf> = exported.values().map(|(_, path)| path).collect();
    folders.extend(dependencies.into_iter().cloned());
    check_packages(folder, &exported)?;
    if let Some(manifest_folder) = std::env::var_os("CARGO_MANIFEST_DIR") {
        advice::check_manifest(Path::new(&manifest_folder))?;
    }
    let definitions = Definitions::read_packages(&folders)?;
    for sentence in advice::actions(folder).into_iter().chain(advice::cut_texts(&definitions)) {
        println_cargo(&format!("warning={sentence}"));
    }
    check_names(&definitions)?;
    check_sizes(&definitions)?;
    let crates = exported.into_iter().map(|(package, (name, _))| (package, name)).collect();
    let code = generate(&definitions, &crates);
    let out = std::env::var_os("OUT_DIR")
        .ok_or_else(|| general_error("OUT_DIR is not set; call this from a build.rs".to_owned()))?;
    let path = Path::new(&out).join(file_name);
    std::fs::write(&path, code)
        .map_err(|error| general_error(format!("{} cannot be written: {error}", path.display())))?;
    Ok(definitions)
}

/// Passes the folder of this crate's packages to the build scripts of dependent crates, so that their messages can
/// contain messages of this crate. Call this function in `build.rs`. The crate's `Cargo.toml` must have the key `links`
/// with the crate's name, in which hyphens are replaced by underscores.
pub fn export(folder: impl AsRef<Path>) {
    let folder = std::env::var_os("CARGO_MANIFEST_DIR").map_or_else(PathBuf::new, PathBuf::from).join(folder);
    println_cargo(&format!("metadata={EXPORT}={}", folder.display()));
}

/// Generates Rust code for all messages and services. Packages in `crates` are left out, because the crate to which
/// `crates` maps them has their code.
#[must_use]
pub fn generate(definitions: &Definitions, crates: &BTreeMap<String, String>) -> String {
    let mut packages: BTreeMap<&str, [String; 2]> = BTreeMap::new();
    let shapes = &Shapes::new(definitions);
    let scope = |own| Scope { definitions, shapes, crates, own };
    for definition in definitions.messages().filter(|message| !crates.contains_key(&message.name.package)) {
        let modules = packages.entry(&definition.name.package).or_default();
        let module = &mut modules[usize::from(definition.name.namespace == Namespace::Srv)];
        module.push_str(&message::code(definition, &scope(&definition.name)));
    }
    for service in definitions.services().filter(|service| !crates.contains_key(&service.name.package)) {
        let modules = packages.entry(&service.name.package).or_default();
        modules[1].push_str(&message::service_code(service, &scope(&service.name)));
    }
    let mut code = String::new();
    for (package, [messages, services]) in packages {
        let _ = writeln!(
            code,
            "/// ROS 2's package `{package}`.\n#[allow(\n    dead_code,\n    unused_imports,\n    non_camel_case_types,\n    \
             clippy::all,\n    clippy::pedantic,\n    rustdoc::bare_urls,\n    \
             reason = \"names and comments are the package's, and a user may need only a part\"\n)]\npub mod {} {{",
            text::identifier(package)
        );
        for (module, what, content) in [("msg", "messages", messages), ("srv", "services", services)] {
            if !content.is_empty() {
                let _ = writeln!(
                    code,
                    "    /// The {what} of `{package}`.\n    pub mod {module} {{\n        \
                     use ::gantry_cdr::{{kind, kind::Kind as _, zerocopy}};\n\n{}    }}",
                    text::indented(&content, 8)
                );
            }
        }
        code.push_str("}\n");
    }
    code
}

/// Checks that no package is also in another crate.
fn check_packages(folder: &Path, exported: &BTreeMap<String, (String, PathBuf)>) -> Result<(), Errors> {
    for (package, (its_crate, _)) in exported {
        let own = folder.join(package);
        if own.is_dir() {
            let sentence = format!(
                "the package `{package}` belongs to the crate `{its_crate}`; give your own package another name"
            );
            return Err(Location::file(own.display()).error(sentence).into());
        }
    }
    Ok(())
}

/// Checks that no message has the name of a type that the generator makes for another message.
fn check_names(definitions: &Definitions) -> Result<(), Errors> {
    let shapes = Shapes::new(definitions);
    for message in definitions.messages().filter(|message| !definitions.is_plain(&message.name)) {
        let shape = shapes.shape(&message.name).exists.then_some("Shape");
        for end in ["Ref", "View", "Layout"].into_iter().chain(shape) {
            let taken = TypeName { name: format!("{}{end}", message.name.name), ..message.name.clone() };
            if definitions.message(&taken).is_some() || definitions.service(&taken).is_some() {
                let of = &message.name;
                let sentence =
                    format!("in Rust this name belongs to the code of `{of}`; rename one of the two messages");
                return Err(Location::file(&taken).error(sentence).into());
            }
        }
    }
    Ok(())
}

/// Checks that no message of fixed size is too large for a CDR body.
fn check_sizes(definitions: &Definitions) -> Result<(), Errors> {
    let shapes = Shapes::new(definitions);
    for message in definitions.messages().filter(|message| !shapes.shape(&message.name).exists) {
        if definitions.max_size_bytes(&message.name).is_none_or(|bytes| u32::try_from(bytes).is_err()) {
            let sentence = "every message of this type would have more than 4 GiB, which CDR cannot hold".to_owned();
            return Err(Location::file(&message.name).error(sentence).into());
        }
    }
    Ok(())
}

/// The packages that direct dependencies export. Each has the name of its crate and its folder.
fn exported_packages() -> Result<BTreeMap<String, (String, PathBuf)>, Errors> {
    let mut packages = BTreeMap::new();
    let end = format!("_{}", EXPORT.to_uppercase());
    for (variable, folder) in std::env::vars() {
        let Some(links) = variable.strip_prefix("DEP_").and_then(|rest| rest.strip_suffix(&end)) else { continue };
        let folder = PathBuf::from(folder);
        let entries = std::fs::read_dir(&folder)
            .map_err(|error| general_error(format!("{} cannot be read: {error}", folder.display())))?;
        for entry in entries.flatten() {
            packages.insert(entry.file_name().to_string_lossy().into_owned(), (links.to_lowercase(), folder.clone()));
        }
    }
    Ok(packages)
}

/// Passes an instruction to cargo, which reads the output of a build script.
#[expect(clippy::print_stdout, reason = "cargo reads the standard output of build scripts")]
fn println_cargo(line: &str) {
    println!("cargo::{line}");
}

/// An error that concerns no definition.
fn general_error(sentence: String) -> Error {
    Location::default().error(sentence)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn definitions(files: &[(&str, &str)]) -> (tempfile::TempDir, Definitions) {
        let folder = tempfile::tempdir().unwrap();
        for (path, text) in files {
            let path = folder.path().join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        }
        let definitions = Definitions::read_packages(&[folder.path()]).unwrap();
        (folder, definitions)
    }

    #[test]
    fn a_message_with_the_name_of_the_view_of_another_is_refused() {
        let files = [("camera_msgs/msg/Camera.msg", "string name"), ("camera_msgs/msg/CameraView.msg", "string name")];
        let sentence = check_names(&definitions(&files).1).unwrap_err().to_string();
        for part in ["camera_msgs/msg/CameraView: ", "belongs to the code of `camera_msgs/msg/Camera`", "rename"] {
            assert!(sentence.contains(part), "{part} is not in: {sentence}");
        }
        let files = [("camera_msgs/msg/Camera.msg", "uint8 id"), ("camera_msgs/msg/CameraView.msg", "string name")];
        assert!(check_names(&definitions(&files).1).is_ok(), "a struct in place has no view");
        let files = [("camera_msgs/msg/Camera.msg", "bool on"), ("camera_msgs/msg/CameraShape.msg", "uint8 id")];
        assert!(check_names(&definitions(&files).1).is_ok(), "a message of fixed size has no shape");
    }

    #[test]
    fn a_message_that_no_body_can_hold_is_refused() {
        let text = "uint8[4294967295] a\nuint8[4294967295] b\nbool c";
        let sentence = check_sizes(&definitions(&[("huge_msgs/msg/Huge.msg", text)]).1).unwrap_err().to_string();
        assert!(sentence.starts_with("huge_msgs/msg/Huge: every message"), "{sentence}");
        let bounded = "uint8[<=4294967295] a\nuint8[<=4294967295] b";
        assert!(check_sizes(&definitions(&[("huge_msgs/msg/Bounded.msg", bounded)]).1).is_ok());
    }

    #[test]
    fn a_package_of_another_crate_is_refused() {
        let (folder, _) = definitions(&[("std_msgs/msg/Mine.msg", "uint8 id")]);
        let exported = |package: &str| {
            BTreeMap::from([(package.to_owned(), ("gantry_msgs".to_owned(), PathBuf::from("packages")))])
        };
        let sentence = check_packages(folder.path(), &exported("std_msgs")).unwrap_err().to_string();
        assert!(sentence.contains("`std_msgs` belongs to the crate `gantry_msgs`"), "{sentence}");
        assert!(check_packages(folder.path(), &exported("nav_msgs")).is_ok());
    }

    #[test]
    #[cfg_attr(miri, ignore = "the generated code takes Miri more than ten minutes")]
    fn shapes_of_deeply_nested_messages_are_found_at_once() {
        let files: Vec<(String, String)> = (0..60)
            .map(|level| {
                let text = match level {
                    0 => "string text".to_owned(),
                    _ => format!("M{0} a\nM{0} b\n", level - 1),
                };
                (format!("deep_msgs/msg/M{level}.msg"), text)
            })
            .collect();
        let files: Vec<(&str, &str)> = files.iter().map(|(path, text)| (path.as_str(), text.as_str())).collect();
        let (_folder, definitions) = definitions(&files);
        assert!(generate(&definitions, &BTreeMap::new()).contains("pub struct M59Shape<'a>"));
    }
}
