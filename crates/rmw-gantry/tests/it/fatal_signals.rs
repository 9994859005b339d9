//! Tests with child processes that a signal ends because of a loan. Their last line of output explains the cause.

use crate::ros::*;
use std::{
    ffi::c_void,
    os::unix::process::ExitStatusExt,
    process::{Command, Output},
    ptr::null_mut,
};
use test_support::tests;

tests![
    a_write_to_a_loan_is_named,
    a_write_to_elements_that_were_moved_out_of_a_loan_is_named,
    elements_that_are_freed_are_named,
    a_signal_without_a_loan_has_no_sentence,
    a_handler_that_the_program_set_before_is_called,
];

/// The argument that makes this program a child process. The next argument is the name of its forbidden action.
pub const END: &str = "--end";

const LENGTH: usize = 100_000;

/// Publishes a message, and takes it on loan.
fn loan(ros: &Ros) -> (*const rmw_abi::bindings::rmw_subscription_t, *mut Bytes) {
    let publisher = ros.publisher_of(bytes_type(), c"/signals", &DEFAULT_QOS);
    let subscription = ros.subscription_of(bytes_type(), c"/signals", &DEFAULT_QOS);
    let mut bytes = vec![7_u8; LENGTH];
    let sent = Bytes { data: bytes.as_mut_ptr(), size: LENGTH, capacity: LENGTH };
    // SAFETY: this library made the publisher, and the message has its type.
    assert_eq!(unsafe { rmw_publish(publisher, (&raw const sent).cast(), null_mut()) }, 0);
    let (mut loan, mut is_taken) = (null_mut::<c_void>(), false);
    // SAFETY: this library made the subscription; the other pointers are outputs.
    assert_eq!(unsafe { rmw_take_loaned_message(subscription, &raw mut loan, &raw mut is_taken, null_mut()) }, 0);
    assert!(is_taken);
    (subscription, loan.cast())
}

/// Returns a loan. The result is rmw's return code.
fn give_back(subscription: *const rmw_abi::bindings::rmw_subscription_t, loan: *mut Bytes) -> i32 {
    // SAFETY: the message is on loan from this subscription.
    unsafe { rmw_return_loaned_message_from_subscription(subscription, loan.cast()) }
}

fn write(at: *mut u8) {
    // SAFETY: violated on purpose: the memory is mapped read-only, and the test is about the signal.
    unsafe { at.write_volatile(1) };
}

/// The role of the child: does the forbidden action.
pub fn end_by_a_signal() {
    extern "C" fn exit(_: libc::c_int) {
        // SAFETY: `_exit` has no preconditions.
        unsafe { libc::_exit(42) };
    }
    let deed = std::env::args().nth(2);
    if deed.as_deref() == Some("handler") {
        // SAFETY: the handler has the right type.
        unsafe { libc::signal(libc::SIGSEGV, exit as *const () as usize) };
    }
    let ros = Ros::new();
    let (subscription, loan) = loan(&ros);
    // SAFETY: the test holds this message on loan.
    let elements = unsafe { (*loan).data };
    match deed.as_deref() {
        Some("write" | "handler") => write(elements.wrapping_add(LENGTH - 1)),
        Some("write to moved") => {
            // SAFETY: as above.
            unsafe { loan.write(Bytes { data: null_mut(), size: 0, capacity: 0 }) };
            assert_ne!(give_back(subscription, loan), 0);
            write(elements);
        }
        // SAFETY: violated on purpose: `malloc` did not return the pointer, and the test is about the signal.
        Some("free") => unsafe { libc::free(elements.cast()) },
        _ => {
            assert_eq!(give_back(subscription, loan), 0);
            std::process::abort();
        }
    }
}

/// Runs a child that does this action. Returns its output, and its text on standard error.
fn end_of(deed: &str) -> (Output, String) {
    let output = Command::new(std::env::current_exe().unwrap()).args([END, deed]).output().unwrap();
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    (output, text)
}

#[track_caller]
fn check_write(deed: &str) {
    let (output, text) = end_of(deed);
    assert_eq!(output.status.signal(), Some(libc::SIGSEGV), "{text}");
    let sentence =
        "rmw_gantry: SIGSEGV: the process wrote to a loaned test_rmw/msg/Bytes of /signals, whose memory is mapped";
    assert!(text.lines().last().is_some_and(|line| line.starts_with(sentence)), "{text}");
}

fn a_write_to_a_loan_is_named() {
    check_write("write");
}

fn a_write_to_elements_that_were_moved_out_of_a_loan_is_named() {
    check_write("write to moved");
}

fn elements_that_are_freed_are_named() {
    let (output, text) = end_of("free");
    let names = [(libc::SIGSEGV, "SIGSEGV"), (libc::SIGABRT, "SIGABRT")];
    let name = names.into_iter().find(|(number, _)| output.status.signal() == Some(*number)).map(|(_, name)| name);
    let name = name.unwrap_or_else(|| panic!("{}: {text}", output.status));
    let sentence = format!("rmw_gantry: {name}: the thread holds a loaned test_rmw/msg/Bytes of /signals, whose long");
    assert!(text.lines().last().is_some_and(|line| line.starts_with(&sentence)), "{text}");
}

fn a_signal_without_a_loan_has_no_sentence() {
    let (output, text) = end_of("abort");
    assert_eq!(output.status.signal(), Some(libc::SIGABRT), "{text}");
    assert!(!text.contains("SIGABRT: "), "{text}");
}

fn a_handler_that_the_program_set_before_is_called() {
    let (output, text) = end_of("handler");
    assert_eq!(output.status.code(), Some(42), "{text}");
    assert!(text.contains("the process wrote to a loaned test_rmw/msg/Bytes of /signals"), "{text}");
}
