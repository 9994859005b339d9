//! Tests of the C++ layer. They compile and run the programs in `bindings/cpp/tests`. They also compare the bytes of
//! all messages of `gantry-msgs`, and of test packages with unusual names, between C++ and Rust. Compilation takes a
//! minute, so the tests run only with `GANTRY_CPP_TESTS=1`, which `.ci/run cpp` sets. `CXX` is the compiler.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on says where")]

#[path = "../common/mod.rs"]
mod common;
mod vectors;

use common::shared_library;
use std::{
    path::{Path, PathBuf},
    process::{Command, ExitCode},
};
use tempfile::TempDir;
use test_support::{compile, is_ignored, missing_compiler, side_by_side, trial};

/// The programs, each with the id of its domain.
const PROGRAMS: &[(&str, u32)] = &[
    ("topics", 181),
    ("services", 182),
    ("executors", 183),
    ("results", 184),
    ("changed", 187),
    ("multi_threaded", 189),
    ("parameters", 191),
];

fn main() -> ExitCode {
    let not_asked = std::env::var_os("GANTRY_CPP_TESTS").is_none();
    let why =
        if not_asked { Some("they run with GANTRY_CPP_TESTS=1".to_owned()) } else { missing_compiler(&cxx(), "cpp") };
    let is_ignored = is_ignored("C++", why);
    let mut trials: Vec<_> = PROGRAMS
        .iter()
        .map(|&(name, domain_id)| trial(name, move || run_program(name, domain_id)).with_ignored_flag(is_ignored))
        .collect();
    let mixed = trial("files_with_and_without_exceptions_make_one_program", files_with_and_without_exceptions);
    trials.push(mixed.with_ignored_flag(is_ignored));
    let linked = trial("headers_link_the_classes_of_ros_2", headers_link_the_classes_of_ros_2);
    trials.push(linked.with_ignored_flag(is_ignored));
    // The messages are split into two programs, because the compilation of each takes a minute.
    for half in 0..2 {
        let name = format!("messages_have_the_bytes_of_rust_{half}");
        trials.push(trial(name, move || messages_have_the_bytes_of_rust(half)).with_ignored_flag(is_ignored));
    }
    libtest_mimic::run(&side_by_side(2), trials).exit_code()
}

fn cxx() -> String {
    std::env::var("CXX").unwrap_or_else(|_| "c++".to_owned())
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Compiles a program with sanitizers, and with warnings as errors. `headers` is the folder with the generated message
/// headers.
#[track_caller]
fn compiled(source: &Path, headers: &Path) -> (PathBuf, TempDir) {
    let (folder, library) = shared_library();
    let program = folder.path().join("program");
    let mut options = options(headers);
    options.extend(library);
    let options: Vec<&str> = options.iter().map(|option| &option[..]).collect();
    compile(&cxx(), source, &program, &options).unwrap_or_else(|messages| panic!("{}", first_lines(&messages)));
    (program, folder)
}

/// The compiler options for all files. `headers` is the folder with the generated message headers.
fn options(headers: &Path) -> Vec<String> {
    let includes = [
        root().join("crates/gantry-c/include"),
        root().join("bindings/cpp/include"),
        root().join("bindings/cpp/tests"),
        headers.to_owned(),
    ];
    let flags =
        ["-std=c++17", "-g1", "-Wconversion", "-fsanitize=address,undefined", "-fno-sanitize-recover=all", "-pthread"];
    let includes = includes.iter().map(|include| format!("-I{}", include.display()));
    includes.chain(flags.map(str::to_owned)).collect()
}

/// The first lines of a compiler's messages.
fn first_lines(messages: &str) -> String {
    messages.lines().take(60).collect::<Vec<_>>().join("\n")
}

#[track_caller]
fn run(program: &Path, arguments: &[&Path], domain_id: u32) {
    let output = Command::new(program).args(arguments).env("ROS_DOMAIN_ID", domain_id.to_string()).output().unwrap();
    let messages = String::from_utf8_lossy(&output.stderr).into_owned() + &String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{}\n{}", output.status, first_lines(&messages));
}

fn run_program(name: &str, domain_id: u32) {
    let headers = tempfile::tempdir().unwrap();
    vectors::write_headers(&vectors::definitions(), headers.path());
    let (program, _folder) = compiled(&root().join(format!("bindings/cpp/tests/{name}.cpp")), headers.path());
    run(&program, &[], domain_id);
}

fn files_with_and_without_exceptions() {
    let (folder, tests) = (tempfile::tempdir().unwrap(), root().join("bindings/cpp/tests"));
    let object = folder.path().join("without.o");
    let options = options(folder.path());
    let options: Vec<&str> = options.iter().map(|option| &option[..]).collect();
    let with = |more| [&options[..], more].concat();
    let source = tests.join("without_exceptions.cpp");
    compile(&cxx(), &source, &object, &with(&["-c", "-fno-exceptions"])).unwrap_or_else(|why| panic!("{why}"));
    let (libraries, library) = shared_library();
    let (source, program) = (tests.join("with_exceptions.cpp"), libraries.path().join("program"));
    let more: Vec<&str> = source.to_str().into_iter().chain(library.iter().map(|option| &option[..])).collect();
    // The object file comes first on the command line. If two files define the same function, the linker takes the
    // function of this file.
    compile(&cxx(), &object, &program, &with(&more)).unwrap_or_else(|why| panic!("{why}"));
    run(&program, &[], 188);
}

/// Compiles a message beside an empty header of ROS 2 with its name, because gantry_rclcpp finds the class of a message
/// by the class of ROS 2.
fn headers_link_the_classes_of_ros_2() {
    const SOURCE: &str = "#include <gantry_msgs/std_msgs/msg/header.hpp>
static_assert(std::is_same_v<gantry::of_ros<std_msgs::msg::Header_<std::allocator<void>>>::type, gantry_msgs::std_msgs::msg::Header>);
int main() {}
";
    let folder = tempfile::tempdir().unwrap();
    vectors::write_headers(&vectors::definitions(), folder.path());
    let header = folder.path().join("std_msgs/msg/header.hpp");
    std::fs::create_dir_all(header.parent().unwrap()).unwrap();
    std::fs::write(header, "").unwrap();
    let source = folder.path().join("linked.cpp");
    std::fs::write(&source, SOURCE).unwrap();
    compiled(&source, folder.path());
}

/// Compares half of the messages: every second one, from the index `half` on.
fn messages_have_the_bytes_of_rust(half: usize) {
    let folder = tempfile::tempdir().unwrap();
    let definitions = vectors::definitions();
    let types = vectors::write_headers(&definitions, folder.path());
    assert!(types.len() > 250, "{} messages", types.len());
    let types: Vec<_> = types.into_iter().skip(half).step_by(2).collect();
    let (source, data) = (folder.path().join("messages.cpp"), folder.path().join("messages.bin"));
    std::fs::write(&source, vectors::program(&types)).unwrap();
    std::fs::write(&data, vectors::data(&definitions, &types)).unwrap();
    let (program, _folder) = compiled(&source, folder.path());
    run(&program, &[&data], [185, 186][half]);
}
