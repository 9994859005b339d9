//! Tests that `rmw-abi` agrees with the headers of ROS 2, and that the shared library exports the right functions.
//!
//! `GANTRY_ROS_INCLUDE` is a directory with `rmw/`, `rcutils/`, `rosidl_runtime_c/` and so on. Without it, the
//! directories of `AMENT_PREFIX_PATH` are searched. Without headers or a C compiler, the tests that need them are
//! ignored, and the reason is printed.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on says where")]

mod source;
mod translate;

use std::{
    collections::BTreeSet,
    env, fs,
    path::{Path, PathBuf},
    process::Command,
    process::ExitCode,
};
use test_support::{compile, is_ignored, missing_compiler, side_by_side, trial};

/// The functions that an RMW has to define, one on each line: Jazzy's headers of `rmw` declare them, and `librmw.so`
/// does not define them.
const FUNCTIONS: &str = include_str!("functions.txt");

/// The functions of this library that are not functions of `rmw`. `include/rmw_gantry.h` declares them.
const OWN: &[&str] = &["rmw_gantry_in_place"];

/// The functions that Jazzy declares, but that no library of Jazzy defines or calls.
const ONLY_DECLARED: &[&str] = &["rmw_get_dynamic_data_from_middleware", "rmw_get_dynamic_type_from_middleware"];

fn main() -> ExitCode {
    let no_headers = is_ignored("headers", missing_compiler("cc", "c").or_else(missing_headers));
    let no_nm = is_ignored("exports", missing_nm());
    let library = rmw_library();
    let no_library = library.is_none().then(|| "there is no librmw.so beside the headers of ROS 2".to_owned());
    let no_library = is_ignored("rmw", no_library) || no_headers || no_nm;
    let knows_each = move || this_library_knows_each_function_of_rmw(&library.unwrap());
    let trials = vec![
        trial("the_bindings_agree_with_the_headers", the_bindings_agree_with_the_headers).with_ignored_flag(no_headers),
        trial("a_change_of_the_bindings_is_refused", a_change_of_the_bindings_is_refused).with_ignored_flag(no_headers),
        trial("the_headers_declare_the_functions", the_headers_declare_the_functions).with_ignored_flag(no_headers),
        trial("this_library_knows_each_function_of_rmw", knows_each).with_ignored_flag(no_library),
        trial("the_library_exports_the_functions", the_library_exports_the_functions).with_ignored_flag(no_nm),
    ];
    libtest_mimic::run(&side_by_side(2), trials).exit_code()
}

fn the_bindings_agree_with_the_headers() {
    let source = declarations();
    assert!(source.structs.len() > 40 && source.constants.len() > 60, "the bindings were not found");
    assert!(source.called.len() > 40, "the table of the bridge's functions was not found");
    check(&source).unwrap_or_else(|messages| panic!("{messages}"));
}

fn a_change_of_the_bindings_is_refused() {
    let true_source = declarations();
    let field = |name: &str, change: fn(&mut Vec<(String, syn::Type)>)| {
        let mut source = true_source.clone();
        change(&mut source.structs.iter_mut().find(|item| item.name == name).unwrap().fields);
        source
    };
    let mut constant = true_source.clone();
    constant.constants[0].1 += 1;
    let mut argument = true_source.clone();
    let publish = argument.functions.iter_mut().find(|function| function.ident == "rmw_publish").unwrap();
    publish.inputs.pop();
    let mut called = true_source.clone();
    let take = called.called.iter_mut().find(|(name, _)| name == "rmw_take_request").unwrap();
    take.1.inputs.pop();
    for (change, source) in [
        ("fields of one size change places", field("rmw_node_t", |fields| fields.swap(2, 3))),
        ("fields of different sizes change places", field("rmw_qos_profile_t", |fields| fields.swap(0, 1))),
        ("a field is gone", field("rmw_client_t", |fields| drop(fields.pop()))),
        ("a field without a size of its own is gone", field("rmw_subscription_t", |fields| drop(fields.pop()))),
        ("a field has another type", field("rmw_gid_t", |fields| fields[1].1 = syn::parse_quote!([u8; 24]))),
        ("a constant has another value", constant),
        ("an argument is gone", argument),
        ("an argument of a function that the bridge calls is gone", called),
    ] {
        assert!(check(&source).is_err(), "the headers agree although {change}");
    }
}

/// Returns the path of `librmw.so` beside the headers; `None` if there is only a copy of the headers.
fn rmw_library() -> Option<PathBuf> {
    include_directories().iter().find_map(|directory| {
        let library = directory.ancestors().find(|above| above.ends_with("include"))?.with_file_name("lib/librmw.so");
        library.exists().then_some(library)
    })
}

/// Returns the names of the functions that the headers of `rmw` declare.
fn declared_functions() -> BTreeSet<String> {
    let mut declared = BTreeSet::new();
    for directory in include_directories().iter().map(|directory| directory.join("rmw")) {
        for header in fs::read_dir(directory).into_iter().flatten() {
            let text = fs::read_to_string(header.unwrap().path()).unwrap_or_default();
            declared.extend(text.split("RMW_PUBLIC").skip(1).filter_map(|text| {
                let before = text.split_once('(')?.0.trim_end();
                Some(before.rsplit([' ', '\n', '*']).next()?.to_owned()).filter(|name| name.starts_with("rmw_"))
            }));
        }
    }
    declared
}

fn the_headers_declare_the_functions() {
    let (declared, own) = (declared_functions(), declarations().functions);
    let missing: Vec<String> = own
        .iter()
        .map(|function| function.ident.to_string())
        .filter(|name| !declared.contains(name) && !OWN.contains(&&name[..]))
        .collect();
    assert!(missing.is_empty(), "the headers do not declare {}", missing.join(", "));
}

/// Each function that the headers declare is in `librmw.so`, in this library, or only declared.
fn this_library_knows_each_function_of_rmw(library: &Path) {
    let (declared, own) = (declared_functions(), exports(library));
    let is_known = |name: &str| own.contains(name) || functions().contains(name) || ONLY_DECLARED.contains(&name);
    let unknown: Vec<&String> = declared.iter().filter(|name| !is_known(name)).collect();
    assert!(unknown.is_empty(), "this rmw has functions that rmw_gantry does not know: {unknown:?}");
}

fn the_library_exports_the_functions() {
    // The test reads the functions from the source, so no macro may generate a function.
    let defined: BTreeSet<String> =
        source::read().functions.iter().map(|function| function.ident.to_string()).collect();
    let functions: BTreeSet<String> =
        functions().into_iter().chain(OWN.iter().map(|name| (*name).to_owned())).collect();
    assert_eq!(defined, functions, "the functions with #[unsafe(no_mangle)]");
    let program = env::current_exe().unwrap();
    let exported = exports(&program.with_file_name("librmw_gantry.so"));
    assert_eq!(exported, functions, "the symbols of librmw_gantry.so");
}

/// Returns the declarations for the distribution to which the headers belong.
fn declarations() -> source::Source {
    let source = source::read();
    let is_jazzy = include_directories().iter().any(|directory| directory.join("rmw/localhost.h").exists());
    if is_jazzy { source } else { source.into_kilted() }
}

fn functions() -> BTreeSet<String> {
    FUNCTIONS.lines().map(str::to_owned).collect()
}

/// Returns the symbols that a library exports.
fn exports(library: &Path) -> BTreeSet<String> {
    let output =
        Command::new("nm").args(["--dynamic", "--defined-only", "--format=posix"]).arg(library).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8(output.stdout).unwrap();
    text.lines().filter_map(|line| Some(line.split(' ').next()?.to_owned())).collect()
}

/// Compares `source` with the headers. The error is the compiler's messages.
fn check(source: &source::Source) -> Result<(), String> {
    let folder = tempfile::tempdir().unwrap();
    let (program, object) = (folder.path().join("check.c"), folder.path().join("check.o"));
    fs::write(&program, translate::program(source)).unwrap();
    let directories = include_directories();
    let mut options = vec!["-std=gnu11", "-c", "-Wno-missing-braces", "-Wno-deprecated-declarations"];
    directories.iter().for_each(|directory| options.extend(["-isystem", directory.to_str().unwrap()]));
    compile("cc", &program, &object, &options)
}

/// Returns the include directories of all packages. ROS 2 installs the headers of a package in
/// `include/PACKAGE/PACKAGE`.
fn include_directories() -> Vec<PathBuf> {
    let roots: Vec<PathBuf> = match env::var_os("GANTRY_ROS_INCLUDE") {
        Some(root) => vec![root.into()],
        None => {
            let prefixes = env::var_os("AMENT_PREFIX_PATH").unwrap_or_default();
            env::split_paths(&prefixes).map(|prefix| prefix.join("include")).collect()
        }
    };
    let packages = roots.iter().flat_map(|root| fs::read_dir(root).into_iter().flatten().flatten());
    let own = ["include", "../gantry-c/include"].map(|folder| Path::new(env!("CARGO_MANIFEST_DIR")).join(folder));
    packages.map(|entry| entry.path()).filter(|path| path.is_dir()).chain(own).collect()
}

fn missing_headers() -> Option<String> {
    let is_there = include_directories().iter().any(|directory| directory.join("rmw/rmw.h").exists());
    let advice = "set GANTRY_ROS_INCLUDE to a directory with rmw/, rcutils/ and rosidl_runtime_c/, or source a ROS 2";
    (!is_there).then(|| format!("no headers of ROS 2 are here: {advice}"))
}

fn missing_nm() -> Option<String> {
    let is_there = Command::new("nm").arg("--version").output().is_ok();
    (!is_there).then(|| "there is no nm here: install binutils".to_owned())
}
