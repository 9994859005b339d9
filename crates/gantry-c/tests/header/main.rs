//! Tests of the header. It compiles as C11 and as C++17, and its functions, structs and numbers agree with the library.
//! They also agree with `tests/abi.golden`, so that no change of the ABI goes unnoticed. `WRITE_GOLDEN=1` writes this
//! file.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on says where")]

mod functions;
mod layout;

use std::{
    fmt::Write,
    fs,
    path::{Path, PathBuf},
    process::ExitCode,
};
use test_support::{compile, is_ignored, missing_compiler, side_by_side, trial};

fn main() -> ExitCode {
    let c = is_ignored("header", missing_compiler("cc", "c"));
    let cpp = is_ignored("header_is_cpp", missing_compiler("c++", "cpp"));
    let trials = vec![
        trial("header_is_the_librarys_and_c11", header_is_the_librarys_and_c11).with_ignored_flag(c),
        trial("header_is_cpp17", header_is_cpp17).with_ignored_flag(cpp),
        trial("library_exports_the_functions_of_the_header", library_exports_the_functions_of_the_header),
        trial("abi_is_the_golden_one", abi_is_the_golden_one),
        trial("newest_symbols_have_the_version_of_the_abi", newest_symbols_have_the_version_of_the_abi),
        trial("structs_that_grow_have_no_padding", structs_that_grow_have_no_padding),
    ];
    libtest_mimic::run(&side_by_side(2), trials).exit_code()
}

fn here() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn exported() -> std::collections::BTreeMap<String, String> {
    functions::exported(&here().join("src"))
}

/// Compiles a C or C++ text that includes the header, with warnings as errors.
#[track_caller]
fn compiles(compiler: &str, extension: &str, text: &str, options: &[&str]) {
    let folder = tempfile::tempdir().unwrap();
    let source: PathBuf = folder.path().join(format!("program.{extension}"));
    fs::write(&source, text).unwrap();
    let include = here().join("include");
    let options = [&["-I", include.to_str().unwrap(), "-fsyntax-only"], options].concat();
    compile(compiler, &source, &folder.path().join("program"), &options).unwrap_or_else(|why| panic!("{why}"));
}

fn header_is_the_librarys_and_c11() {
    let mut text = "#include <gantry.h>\n".to_owned();
    for (expression, value) in layout::expected() {
        writeln!(text, "_Static_assert((long long)({expression}) == {value}, \"{expression} is {value}\");").unwrap();
    }
    for (name, pointer) in exported() {
        let is_it = format!("__builtin_types_compatible_p(__typeof__(&{name}), __typeof__({pointer}))");
        writeln!(text, "_Static_assert({is_it}, \"{name} is {pointer}\");").unwrap();
    }
    compiles("cc", "c", &text, &["-std=c11"]);
}

fn header_is_cpp17() {
    compiles("c++", "cpp", "#include <gantry.h>\n", &["-std=c++17", "-Wconversion", "-Wold-style-cast"]);
}

fn library_exports_the_functions_of_the_header() {
    let header = fs::read_to_string(here().join("include/gantry.h")).unwrap();
    let exported: Vec<String> = exported().into_keys().collect();
    assert_eq!(functions::declared(&header), exported);
    let library = std::env::current_exe().unwrap().with_file_name("libgantry_c.so");
    assert_eq!(functions::symbols(&library), exported);
}

fn abi_is_the_golden_one() {
    let functions = exported().into_iter().map(|(name, pointer)| format!("{name}: {pointer}\n"));
    let layout = layout::expected().into_iter().map(|(expression, value)| format!("{expression} = {value}\n"));
    let found: String = functions.chain(layout).collect();
    let path = here().join("tests/abi.golden");
    if std::env::var_os("WRITE_GOLDEN").is_some() {
        fs::write(&path, &found).unwrap();
    }
    let golden = fs::read_to_string(&path).unwrap();
    assert_eq!(
        found, golden,
        "added lines need a new ABI_VERSION; changed or removed ones also a new soname (build.rs) after \
         the first release"
    );
}

fn newest_symbols_have_the_version_of_the_abi() {
    let map = fs::read_to_string(here().join("gantry.map")).unwrap();
    let versions = map.lines().filter_map(|line| line.strip_suffix(" {")?.strip_prefix("GANTRY_"));
    let expected = (1..=gantry_c::abi::ABI_VERSION).map(|version| version.to_string());
    assert!(versions.eq(expected), "gantry.map has one version for each ABI_VERSION:\n{map}");
}

fn structs_that_grow_have_no_padding() {
    assert_eq!(layout::padded(), Vec::<&str>::new());
}
