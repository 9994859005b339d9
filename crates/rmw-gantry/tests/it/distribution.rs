//! Tests of the detection of the ROS 2 distribution, with supported and unsupported distributions.

use crate::ros::{self, DEFAULT_QOS, malloc, point_type};
use rmw_abi::bindings::*;
use std::{
    ffi::c_void,
    fs,
    mem::zeroed,
    path::Path,
    process::Command,
    ptr::{null, null_mut},
};
use test_support::{compile, ignore, missing_compiler, tests};

tests![
    each_distribution_gets_its_own_layouts_and_numbers_of_events,
    another_name_of_the_distribution_is_refused_before_a_struct_is_written,
    libraries_of_another_distribution_are_refused_before_a_struct_is_written,
];

unsafe extern "C" {
    fn rmw_init_options_init(options: *mut rmw_init_options_t, allocator: rcutils_allocator_t) -> rmw_ret_t;
    fn rmw_init_options_fini(options: *mut rmw_init_options_t) -> rmw_ret_t;
    fn rmw_get_node_names(
        node: *const rmw_node_t,
        names: *mut rcutils_string_array_t,
        namespaces: *mut rcutils_string_array_t,
    ) -> rmw_ret_t;
}

/// The argument that makes this program a child process, which uses a context and an event.
pub const USE: &str = "--use";

/// The argument that makes this program a child process, which only initializes options.
pub const BEGIN: &str = "--begin";

/// The role of the child `--begin`: initializes options, which is the first call of a ROS 2 program, and prints the
/// result.
pub fn begin() {
    let mut options = [0u64; 64]; // the options of any layout, and bytes behind them
    // SAFETY: all bits 0 are options that are not initialized. The memory is large enough for each distribution.
    let code = unsafe { rmw_init_options_init(options.as_mut_ptr().cast(), malloc()) };
    println!("code {code}, options {}", if options == [0; 64] { "untouched" } else { "written" });
}

/// A C struct, followed by memory that the library must not write.
#[repr(C)]
struct Guarded<T> {
    value: T,
    after: [u64; 4],
}

const UNTOUCHED: [u64; 4] = [0x5a5a_5a5a_5a5a_5a5a; 4];

impl<T> Guarded<T> {
    fn zeroed() -> Box<Guarded<T>> {
        // SAFETY: all bits 0 are valid options or a valid context, which are not initialized.
        Box::new(Guarded { value: unsafe { zeroed() }, after: UNTOUCHED })
    }
}

/// The role of the child `--use`: initializes and finalizes options, a context and an event, with the layouts of
/// `ROS_DISTRO`.
pub fn go() {
    match std::env::var("ROS_DISTRO").as_deref() {
        Ok("jazzy") => go_through::<Jazzy>(0),
        _ => go_through::<Kilted>(1),
    }
    println!("it went through");
}

fn go_through<L: Layout>(first: rmw_event_type_t) {
    let (mut options, mut context) =
        (Guarded::<rmw_init_options_of<L>>::zeroed(), Guarded::<rmw_context_of<L>>::zeroed());
    let (options_pointer, context_pointer) = ((&raw mut options.value).cast(), (&raw mut context.value).cast());
    // SAFETY: the options are not initialized. This library makes all objects below, which live until they are
    // destroyed.
    assert_eq!(unsafe { rmw_init_options_init(options_pointer, malloc()) }, RMW_RET_OK);
    assert_eq!(options.value.discovery_options.automatic_discovery_range, RMW_AUTOMATIC_DISCOVERY_RANGE_LOCALHOST);
    options.value.domain_id = 98;
    options.value.instance_id = 7;
    // SAFETY: the string ends with 0; the options free the copy.
    options.value.enclave = unsafe { libc::strdup(c"/front".as_ptr()) };
    // SAFETY: as above.
    assert_eq!(unsafe { ros::rmw_init(options_pointer, context_pointer) }, RMW_RET_OK);
    assert_eq!((context.value.actual_domain_id, context.value.instance_id), (98, 7));
    assert!(!context.value.implementation.is_null() && !context.value.options.enclave.is_null());
    // SAFETY: as above.
    let node = unsafe { ros::rmw_create_node(context_pointer, c"layouts".as_ptr(), c"/".as_ptr()) };
    assert!(!node.is_null());
    // SAFETY: all bits 0 are valid arrays without memory.
    let [mut names, mut namespaces]: [rcutils_string_array_t; 2] = unsafe { zeroed() };
    // SAFETY: as above. The context's allocator allocates the arrays.
    assert_eq!(unsafe { rmw_get_node_names(node, &raw mut names, &raw mut namespaces) }, RMW_RET_OK);
    assert_eq!((names.size, namespaces.size), (1, 1));
    let publisher_options = rmw_publisher_options_t {
        rmw_specific_publisher_payload: null_mut(),
        require_unique_network_flow_endpoints: RMW_UNIQUE_NETWORK_FLOW_ENDPOINTS_NOT_REQUIRED,
    };
    // SAFETY: as above.
    let publisher = unsafe {
        ros::rmw_create_publisher(node, point_type(), c"/points".as_ptr(), &DEFAULT_QOS, &raw const publisher_options)
    };
    assert!(!publisher.is_null());
    let init = |number| {
        let mut event =
            rmw_event_t { implementation_identifier: null(), data: null_mut::<c_void>(), event_type: number };
        // SAFETY: as above; the event is not initialized.
        unsafe { ros::rmw_publisher_event_init(&raw mut event, publisher, number) }
    };
    assert_eq!(init(first + RMW_EVENT_PUBLICATION_MATCHED), RMW_RET_OK);
    assert_eq!(init(first + RMW_EVENT_INVALID), RMW_RET_UNSUPPORTED);
    assert_eq!(init(first.wrapping_sub(1)), RMW_RET_UNSUPPORTED);
    // SAFETY: as above.
    assert_eq!(unsafe { ros::rmw_destroy_publisher(node, publisher) }, RMW_RET_OK);
    // SAFETY: as above.
    assert_eq!(unsafe { ros::rmw_destroy_node(node) }, RMW_RET_OK);
    // SAFETY: as above.
    assert_eq!(unsafe { ros::rmw_shutdown(context_pointer) }, RMW_RET_OK);
    // SAFETY: as above.
    assert_eq!(unsafe { ros::rmw_context_fini(context_pointer) }, RMW_RET_OK);
    // SAFETY: as above.
    assert_eq!(unsafe { rmw_init_options_fini(options_pointer) }, RMW_RET_OK);
    assert!(context.value.implementation.is_null() && options.value.enclave.is_null());
    assert_eq!((options.after, context.after), (UNTOUCHED, UNTOUCHED), "memory behind the structs");
}

/// Returns the child's line on standard output, and its text on standard error.
#[expect(clippy::unwrap_used, reason = "a test that cannot go on says where")]
fn outcome(distribution: Option<&str>, library: Option<&Path>) -> (String, String) {
    let mut child = Command::new(std::env::current_exe().unwrap());
    child.arg(BEGIN);
    // The child does not see a ROS 2 that is installed on this machine.
    child.env_remove("ROS_DISTRO").env_remove("LD_PRELOAD").env_remove("LD_LIBRARY_PATH");
    distribution.map(|name| child.env("ROS_DISTRO", name));
    library.map(|path| child.env("LD_PRELOAD", path));
    let output = child.output().unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    let (said, errors) = (text(output.stdout), text(output.stderr));
    (said.lines().find(|line| line.contains("code ")).unwrap_or(&said).to_owned(), errors)
}

fn each_distribution_gets_its_own_layouts_and_numbers_of_events() {
    for distribution in ["jazzy", "kilted"] {
        let mut child = Command::new(std::env::current_exe().unwrap());
        child.arg(USE).env("ROS_DISTRO", distribution);
        let output = child.env_remove("LD_PRELOAD").env_remove("LD_LIBRARY_PATH").output().unwrap();
        let said = String::from_utf8_lossy(&output.stdout);
        let errors = String::from_utf8_lossy(&output.stderr);
        assert!(said.contains("it went through"), "{distribution}: {said} {errors}");
    }
}

fn another_name_of_the_distribution_is_refused_before_a_struct_is_written() {
    let (said, errors) = outcome(Some("lyrical"), None);
    assert!(said.ends_with("code 1, options untouched"), "{said}");
    assert!(errors.contains("ROS_DISTRO is \"lyrical\", and Gantry knows"), "{errors}");
    assert!(outcome(Some("jazzy"), None).0.ends_with("code 0, options written"));
}

/// Here `ROS_DISTRO` is not set. The substitute libraries have the functions by which this library detects the
/// distribution.
fn libraries_of_another_distribution_are_refused_before_a_struct_is_written() {
    if let Some(why) = missing_compiler("cc", "c") {
        ignore(why);
    }
    let folder = tempfile::tempdir().unwrap();
    for (library, functions, expected) in [
        ("librcl.so", "rcl_init", "code 0, options written"), // Kilted's
        ("librmw.so", "rmw_get_zero_initialized_service_endpoint_info_array", "code 1, options untouched"), // Lyrical's
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
