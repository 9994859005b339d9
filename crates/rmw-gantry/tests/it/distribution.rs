//! A process that runs another distribution of ROS 2 than the one that the library is built for.

use crate::ros::malloc;
use rmw_gantry::bindings::*;
use std::{fs, path::Path, process::Command};
use test_support::{compile, ignore, missing_compiler, tests};

tests![
    another_name_of_the_distribution_is_refused_before_a_struct_is_written,
    libraries_of_another_distribution_are_refused_before_a_struct_is_written,
];

unsafe extern "C" {
    fn rmw_init_options_init(options: *mut rmw_init_options_t, allocator: rcutils_allocator_t) -> rmw_ret_t;
}

/// The argument with which this program is the child.
pub const BEGIN: &str = "--begin";

/// The role of the child: initializes options with the first function that a program calls, and prints the result.
pub fn begin() {
    let mut options = [0u64; 64]; // of any layout, followed by what is not theirs
    // SAFETY: zeros are options that are not initialized, with room for the options of each distribution.
    let code = unsafe { rmw_init_options_init(options.as_mut_ptr().cast(), malloc()) };
    println!("code {code}, options {}", if options == [0; 64] { "untouched" } else { "written" });
}

/// The child's line on standard output, and its text on standard error.
#[expect(clippy::unwrap_used, reason = "a test that cannot go on says where")]
fn outcome(distribution: Option<&str>, library: Option<&Path>) -> (String, String) {
    let mut child = Command::new(std::env::current_exe().unwrap());
    child.arg(BEGIN);
    // No ROS 2 that is here.
    child.env_remove("ROS_DISTRO").env_remove("LD_PRELOAD").env_remove("LD_LIBRARY_PATH");
    distribution.map(|name| child.env("ROS_DISTRO", name));
    library.map(|path| child.env("LD_PRELOAD", path));
    let output = child.output().unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    let (said, errors) = (text(output.stdout), text(output.stderr));
    (said.lines().find(|line| line.contains("code ")).unwrap_or(&said).to_owned(), errors)
}

fn another_name_of_the_distribution_is_refused_before_a_struct_is_written() {
    let (said, errors) = outcome(Some("kilted"), None);
    assert!(said.ends_with("code 1, options untouched"), "{said}");
    assert!(errors.contains("ROS_DISTRO is \"kilted\", and rmw_gantry is built for ROS 2 Jazzy"), "{errors}");
    assert!(outcome(Some("jazzy"), None).0.ends_with("code 0, options written"));
}

/// The stand-ins have the functions by which the library recognises the distribution, and `ROS_DISTRO` is not set.
fn libraries_of_another_distribution_are_refused_before_a_struct_is_written() {
    if let Some(why) = missing_compiler("cc", "c") {
        ignore(why);
    }
    let folder = tempfile::tempdir().unwrap();
    for (library, functions, expected) in [
        ("librcl.so", "rcl_init", "code 1, options untouched"), // Kilted's
        ("librcl.so", "rcl_get_localhost_only", "code 0, options written"),
        ("librmw.so", "rmw_get_zero_initialized_init_options", "code 1, options untouched"), // Humble's
        ("librmw.so", "rmw_discovery_options_init", "code 0, options written"),
    ] {
        let (source, path) = (folder.path().join("library.c"), folder.path().join(library));
        fs::write(&source, format!("void {functions}(void);\nvoid {functions}(void) {{}}\n")).unwrap();
        compile("cc", &source, &path, &["-shared", "-fPIC", &format!("-Wl,-soname,{library}")]).unwrap();
        let (said, errors) = outcome(None, Some(&path));
        assert!(said.ends_with(expected), "{library} with {functions}: {said} {errors}");
    }
}
