//! Test of a program that closes the library while a context lives, as `rmw_implementation` does at the end of a
//! program.

use crate::ros::malloc;
use rmw_abi::bindings::*;
use std::{
    ffi::{CString, c_char, c_void},
    process::Command,
};
use test_support::{eventually, tests};

tests![a_program_that_closes_the_library_under_a_living_context_ends_in_order];

/// The argument that makes this program a child process.
pub const CLOSE: &str = "--close";

/// # Safety
/// The library has a function with this name and type.
#[expect(clippy::unwrap_used, reason = "a test that cannot go on says where")]
unsafe fn function<F: Copy>(library: *mut c_void, name: &str) -> F {
    let name = CString::new(name).unwrap();
    // SAFETY: the handle comes from `dlopen`, and the name ends with 0.
    let address = unsafe { libc::dlsym(library, name.as_ptr()) };
    assert!(!address.is_null(), "{name:?}");
    // SAFETY: the promise of the caller.
    unsafe { std::mem::transmute_copy(&address) }
}

/// The role of the child: closes the library, then continues, forks and ends.
#[expect(clippy::unwrap_used, reason = "a test that cannot go on says where")]
pub fn close_and_go_on() {
    type Init = unsafe extern "C" fn(*const rmw_init_options_t, *mut rmw_context_t) -> rmw_ret_t;
    type CreateNode = unsafe extern "C" fn(*mut rmw_context_t, *const c_char, *const c_char) -> *mut rmw_node_t;
    let path = std::env::current_exe().unwrap().with_file_name("librmw_gantry.so");
    let path = CString::new(path.to_str().unwrap()).unwrap();
    // SAFETY: the string ends with 0; the initialisers of this library may run on any thread.
    let library = unsafe { libc::dlopen(path.as_ptr(), libc::RTLD_NOW | libc::RTLD_LOCAL) };
    assert!(!library.is_null(), "{path:?}");
    // SAFETY: `rmw/init.h` has this type.
    let init: Init = unsafe { function(library, "rmw_init") };
    // SAFETY: `rmw/rmw.h` has this type.
    let create_node: CreateNode = unsafe { function(library, "rmw_create_node") };
    // SAFETY: all bits 0 are valid options and a valid context, which are not initialized.
    let (mut options, mut context): (rmw_init_options_of<Jazzy>, rmw_context_of<Jazzy>) = unsafe { std::mem::zeroed() };
    options.implementation_identifier = c"rmw_gantry".as_ptr();
    options.domain_id = 99;
    options.enclave = c"/".as_ptr().cast_mut();
    (options.allocator, options.discovery_options.allocator) = (malloc(), malloc());
    // SAFETY: the options are initialized, and the context is new.
    assert_eq!(unsafe { init((&raw const options).cast(), (&raw mut context).cast()) }, RMW_RET_OK);
    // SAFETY: the library made the context, and both strings end with 0.
    let node = unsafe { create_node((&raw mut context).cast(), c"closed".as_ptr(), c"/".as_ptr()) };
    assert!(!node.is_null());
    let observer = gantry::Node::builder("observer").domain_id(99).build().unwrap();
    let is_there = || observer.node_names().unwrap().iter().any(|name| name == "/closed");
    eventually("the node is there", is_there);
    // SAFETY: the test calls no function of the library after this.
    assert_eq!(unsafe { libc::dlclose(library) }, 0);
    // The control thread of the library still runs, and handles nodes that join and leave.
    for number in 0..20 {
        drop(gantry::Node::builder(&format!("other_{number}")).domain_id(99).build().unwrap());
    }
    assert!(is_there());
    // SAFETY: the child calls nothing but `_exit`.
    let child = unsafe { libc::fork() };
    if child == 0 {
        // SAFETY: `_exit` has no preconditions.
        unsafe { libc::_exit(0) };
    }
    let mut status = -1;
    // SAFETY: the process is a child of this one; the other pointer is an output.
    assert_eq!(unsafe { libc::waitpid(child, &raw mut status, 0) }, child);
    assert_eq!(status, 0);
}

fn a_program_that_closes_the_library_under_a_living_context_ends_in_order() {
    let output = Command::new(std::env::current_exe().unwrap()).arg(CLOSE).output().unwrap();
    assert!(output.status.success(), "{}: {}", output.status, String::from_utf8_lossy(&output.stderr));
}
