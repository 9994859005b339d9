//! Tests of loans and samples without copies, as `gantry_rclcpp` uses them.

use crate::ros::*;
use rmw_abi::bindings::*;
use std::mem::zeroed;
use test_support::tests;

tests![
    a_body_is_read_where_it_was_written,
    a_loan_that_is_not_published_stays_the_programs,
    a_malformed_sample_is_counted_as_lost,
];

fn functions() -> &'static rmw_gantry_functions {
    // SAFETY: the function has no arguments.
    let functions = unsafe { rmw_gantry_in_place() };
    // SAFETY: the pointer leads to a static table of the library.
    unsafe { &*functions }
}

fn empty_sample() -> gantry_sample {
    // SAFETY: all bits 0 are a valid, empty struct.
    unsafe { zeroed() }
}

/// Loans memory, and writes a point into it.
fn loan(publisher: *const rmw_publisher_t, point: Point) -> gantry_loan {
    // SAFETY: all bits 0 are a valid, empty struct.
    let mut loan: gantry_loan = unsafe { zeroed() };
    // SAFETY: this library made the publisher; the other pointer is an output.
    assert_eq!(unsafe { functions().loan.unwrap()(publisher, size_of::<Point>(), &raw mut loan) }, RMW_RET_OK);
    assert_eq!(loan.size, size_of::<Point>());
    // SAFETY: the memory is large enough for a point, and aligned to 8.
    unsafe { loan.data.cast::<Point>().write(point) };
    loan
}

fn publish_in_place(publisher: *const rmw_publisher_t, loan: &mut gantry_loan) -> rmw_ret_t {
    // SAFETY: this library made the publisher; the struct holds a loan or is empty.
    unsafe { functions().publish.unwrap()(publisher, &raw mut *loan) }
}

fn take_in_place(subscription: *const rmw_subscription_t) -> gantry_sample {
    let mut sample = empty_sample();
    // SAFETY: this library made the subscription; the other pointer is an output.
    assert_eq!(unsafe { functions().take.unwrap()(subscription, &raw mut sample) }, RMW_RET_OK);
    sample
}

fn release(sample: &mut gantry_sample) {
    // SAFETY: this library made the sample, and `owner` points to its functions.
    let owner = unsafe { &*sample.owner };
    // SAFETY: as above.
    assert_eq!(unsafe { owner.release.unwrap()(&raw mut *sample) }, 0);
    assert!(sample.data.is_null());
}

fn a_body_is_read_where_it_was_written() {
    let ros = Ros::new();
    let publisher = ros.publisher(c"/in_place", &DEFAULT_QOS);
    let subscription = ros.subscription(c"/in_place", &DEFAULT_QOS);
    assert!(take_in_place(subscription).data.is_null());
    let mut loan = loan(publisher, Point { x: 1.5, number: 4 });
    assert_eq!(publish_in_place(publisher, &mut loan), RMW_RET_OK);
    assert!(loan.data.is_null());
    assert_eq!(publish_in_place(publisher, &mut loan), RMW_RET_INVALID_ARGUMENT, "a loan is published once");

    let mut sample = take_in_place(subscription);
    // SAFETY: the sample's bytes are a point.
    assert_eq!(unsafe { sample.data.cast::<Point>().read() }, Point { x: 1.5, number: 4 });
    // SAFETY: all bits 0 are a valid struct; its size is set next.
    let mut info: gantry_sample_info = unsafe { zeroed() };
    info.struct_size = size_of::<gantry_sample_info>();
    // SAFETY: this library made the sample, and `owner` points to its functions.
    let get_info = unsafe { &*sample.owner }.get_info.unwrap();
    // SAFETY: as above; the info starts with its size.
    assert_eq!(unsafe { get_info(&raw const sample, &raw mut info) }, 0);
    assert!(info.sequence == 1 && info.source_wall_time_ns > 0 && info.publisher_gid.bytes == info.origin_gid.bytes);
    // The sample is valid after its subscription has ended.
    ros.end(&[publisher], &[subscription]);
    // SAFETY: as above.
    assert_eq!(unsafe { sample.data.cast::<Point>().read() }, Point { x: 1.5, number: 4 });
    release(&mut sample);
}

fn a_loan_that_is_not_published_stays_the_programs() {
    let ros = Ros::new();
    let publishers = [ros.publisher(c"/one", &DEFAULT_QOS), ros.publisher(c"/other", &DEFAULT_QOS)];
    let mut loan = loan(publishers[0], Point { x: 2.5, number: 5 });
    assert_ne!(publish_in_place(publishers[1], &mut loan), RMW_RET_OK, "a loan of another publisher");
    // SAFETY: the loan's memory contains a point.
    assert_eq!(unsafe { loan.data.cast::<Point>().read() }, Point { x: 2.5, number: 5 });
    assert_eq!(publish_in_place(publishers[0], &mut loan), RMW_RET_OK);
    // The program can return a loan after its node has been destroyed.
    loan = self::loan(publishers[0], Point { x: 2.5, number: 6 });
    ros.end(&publishers, &[]);
    // SAFETY: this library made the loan, and `owner` points to its functions.
    let owner = unsafe { &*loan.owner };
    // SAFETY: as above.
    assert_eq!(unsafe { owner.return_loan.unwrap()(&raw mut loan) }, 0);
    assert!(loan.data.is_null());
}

fn a_malformed_sample_is_counted_as_lost() {
    let ros = Ros::new();
    let publisher = ros.publisher(c"/malformed", &DEFAULT_QOS);
    let subscription = ros.subscription(c"/malformed", &DEFAULT_QOS);
    publish(publisher, Point { x: 0.5, number: 1 });
    let mut sample = take_in_place(subscription);
    // SAFETY: this library made the subscription and its sample; the string ends with 0.
    let code =
        unsafe { functions().skip_malformed.unwrap()(subscription, &raw const sample, c"its number is odd".as_ptr()) };
    assert_eq!(code, RMW_RET_OK);
    release(&mut sample);
    // SAFETY: as above; the sample is empty.
    let code = unsafe { functions().skip_malformed.unwrap()(subscription, &raw const sample, c"".as_ptr()) };
    assert_eq!(code, RMW_RET_INVALID_ARGUMENT);
    ros.end(&[publisher], &[subscription]);
}
