//! Tests of content filters: waits, counts and arguments.

use crate::ros::*;
use rmw_abi::bindings::*;
use std::{
    ffi::{CStr, c_char},
    ptr::{null, null_mut},
};
use test_support::tests;

tests![
    a_wait_names_a_subscription_only_for_messages_that_pass,
    messages_that_do_not_pass_are_no_losses_and_take_no_room,
    a_subscription_hears_others_and_ignores_its_own_process,
    arguments_that_are_wrong_change_nothing,
];

unsafe extern "C" {
    fn rmw_subscription_set_content_filter(
        subscription: *mut rmw_subscription_t,
        options: *const rmw_subscription_content_filter_options_t,
    ) -> rmw_ret_t;
    fn rmw_subscription_get_content_filter(
        subscription: *const rmw_subscription_t,
        allocator: *mut rcutils_allocator_t,
        options: *mut rmw_subscription_content_filter_options_t,
    ) -> rmw_ret_t;
}

/// Sets the content filter, or removes it with an empty expression.
pub fn set_filter(subscription: *mut rmw_subscription_t, expression: &CStr, parameters: &[&CStr]) -> rmw_ret_t {
    let mut data: Vec<*mut c_char> = parameters.iter().map(|parameter| parameter.as_ptr().cast_mut()).collect();
    let expression_parameters =
        rcutils_string_array_t { size: data.len(), data: data.as_mut_ptr(), allocator: malloc() };
    let filter_expression = expression.as_ptr().cast_mut();
    let options = rmw_subscription_content_filter_options_t { filter_expression, expression_parameters };
    // SAFETY: this library made the subscription; the options stay unchanged during the call.
    unsafe { rmw_subscription_set_content_filter(subscription, &raw const options) }
}

fn is_enabled(subscription: *const rmw_subscription_t) -> bool {
    // SAFETY: this library made the subscription.
    unsafe { (*subscription).is_cft_enabled }
}

fn a_wait_names_a_subscription_only_for_messages_that_pass() {
    let ros = Ros::new();
    let deep = rmw_qos_profile_t { depth: 3000, ..DEFAULT_QOS };
    let (publisher, subscription) = (ros.publisher(c"/filtered", &deep), ros.subscription(c"/filtered", &deep));
    assert!(!is_enabled(subscription));
    assert_eq!(set_filter(subscription, c"number >= %0 AND x < 1", &[c"100"]), RMW_RET_OK);
    assert!(is_enabled(subscription));
    // SAFETY: this library made the context.
    let wait_set = unsafe { rmw_create_wait_set(ros.context(), 0) };
    let is_ready = || wait(wait_set, &[subscription], &[], &mut [], NOW) == (RMW_RET_OK, vec![true]);
    for number in 0..200 {
        publish(publisher, Point { x: if number % 3 == 0 { 1.0 } else { 0.5 }, number });
        let passes = number >= 100 && number % 3 != 0;
        assert_eq!(is_ready(), passes, "{number}");
        assert_eq!(is_ready(), passes, "{number}, which was not taken, again");
        assert_eq!(take_numbers(subscription), if passes { vec![number] } else { vec![] });
    }
    // A sleeping thread wakes only for the message that passes.
    let address = publisher as usize;
    let thread = std::thread::spawn(move || {
        (0..2000).for_each(|number| {
            publish(address as *const rmw_publisher_t, Point { x: 0.0, number: number % 1000 / 9 });
            std::thread::yield_now();
        });
    });
    let mut heard = 0;
    while heard < 200 {
        assert_eq!(wait(wait_set, &[subscription], &[], &mut [], TIME_LIMIT), (RMW_RET_OK, vec![true]), "{heard}");
        let numbers = take_numbers(subscription);
        assert!(numbers.iter().all(|number| *number >= 100), "{numbers:?}");
        heard += numbers.len();
    }
    thread.join().unwrap();
    assert_eq!(set_filter(subscription, c"", &[]), RMW_RET_OK);
    assert!(!is_enabled(subscription));
    publish(publisher, Point { x: 9.0, number: 9 });
    assert!(is_ready());
    assert_eq!(take_numbers(subscription), [9]);
    // SAFETY: this library made the wait set, which is not used again.
    assert_eq!(unsafe { rmw_destroy_wait_set(wait_set) }, RMW_RET_OK);
    ros.end(&[publisher], &[subscription]);
}

fn messages_that_do_not_pass_are_no_losses_and_take_no_room() {
    let ros = Ros::new();
    let publisher = ros.publisher(c"/room", &DEFAULT_QOS);
    let subscription = ros.subscription(c"/room", &rmw_qos_profile_t { depth: 2, ..DEFAULT_QOS });
    // SAFETY: all bits 0 are a valid event, which is not initialized.
    let mut event: rmw_event_t = unsafe { std::mem::zeroed() };
    // SAFETY: the event is new, and this library made the subscription.
    let code = unsafe { rmw_subscription_event_init(&raw mut event, subscription, RMW_EVENT_MESSAGE_LOST) };
    assert_eq!(code, RMW_RET_OK);
    // SAFETY: this library made the context.
    let wait_set = unsafe { rmw_create_wait_set(ros.context(), 0) };
    let mut events = [event];
    let mut ready = || wait(wait_set, &[subscription], &[], &mut events, NOW).1;
    assert_eq!(set_filter(subscription, c"number > 0", &[]), RMW_RET_OK);
    for number in [1, 0, 0, 2, 0, 0, 0] {
        publish(publisher, Point { x: 0.0, number });
        assert_eq!(ready(), [true, false]);
    }
    assert_eq!(take_numbers(subscription), [1, 2]);
    assert_eq!(ready(), [false, false]);
    // The subscription of depth 2 keeps the newest two of the three messages that pass.
    for number in [3, 0, 4, 0, 5] {
        publish(publisher, Point { x: 0.0, number });
        assert_eq!(ready(), [true, false]);
    }
    assert_eq!(take_numbers(subscription), [4, 5]);
    assert_eq!(ready(), [false, true], "the loss of 3");
    // SAFETY: this library made the wait set, which is not used again.
    assert_eq!(unsafe { rmw_destroy_wait_set(wait_set) }, RMW_RET_OK);
    ros.end(&[publisher], &[subscription]);
}

fn a_subscription_hears_others_and_ignores_its_own_process() {
    let ros = Ros::new();
    let publisher = ros.publisher(c"/own", &DEFAULT_QOS);
    let options = rmw_subscription_options_t {
        rmw_specific_subscription_payload: null_mut(),
        ignore_local_publications: true,
        require_unique_network_flow_endpoints: RMW_UNIQUE_NETWORK_FLOW_ENDPOINTS_NOT_REQUIRED,
        content_filter_options: null_mut(),
    };
    // SAFETY: this library made the node; the type support stays, and the other pointers are valid.
    let subscription =
        unsafe { rmw_create_subscription(ros.node, point_type(), c"/own".as_ptr(), &DEFAULT_QOS, &raw const options) };
    // SAFETY: this library made the context.
    let wait_set = unsafe { rmw_create_wait_set(ros.context(), 0) };
    publish(publisher, Point { x: 0.0, number: 1 });
    assert_eq!(wait(wait_set, &[subscription], &[], &mut [], NOW), (RMW_RET_TIMEOUT, vec![false]));
    assert_eq!(take_numbers(subscription), []);
    // SAFETY: this library made the wait set, which is not used again.
    assert_eq!(unsafe { rmw_destroy_wait_set(wait_set) }, RMW_RET_OK);
    ros.end(&[publisher], &[subscription]);
}

fn arguments_that_are_wrong_change_nothing() {
    let ros = Ros::new();
    let publisher = ros.publisher(c"/arguments", &DEFAULT_QOS);
    let subscription = ros.subscription(c"/arguments", &DEFAULT_QOS);
    let mut allocator = malloc();
    // SAFETY: all bits 0 are valid options, without a filter.
    let mut found: rmw_subscription_content_filter_options_t = unsafe { std::mem::zeroed() };
    let get = |found: *mut _, allocator: *mut _| {
        // SAFETY: this library made the subscription; the other pointers are null or outputs.
        unsafe { rmw_subscription_get_content_filter(subscription, allocator, found) }
    };
    assert_eq!(get(&raw mut found, &raw mut allocator), RMW_RET_ERROR, "there is no filter");
    assert_eq!(set_filter(subscription, c"number = 1", &[]), RMW_RET_OK);
    for (expression, parameters) in [
        (c"numbr = 1", &[][..]),
        (c"number =", &[]),
        (c"number = 'x'", &[]),
        (c"number = %1", &[c"1"]),
        (c"number = \xff", &[]),
    ] {
        assert_ne!(set_filter(subscription, expression, parameters), RMW_RET_OK, "{expression:?}");
        assert!(is_enabled(subscription));
    }
    // SAFETY: this library made the subscription; `options` is null or valid.
    let set = |options| unsafe { rmw_subscription_set_content_filter(subscription, options) };
    assert_eq!(set(null()), RMW_RET_INVALID_ARGUMENT);
    assert_eq!(set(&raw const found), RMW_RET_INVALID_ARGUMENT, "an expression that is null");
    assert_eq!(get(null_mut(), &raw mut allocator), RMW_RET_INVALID_ARGUMENT);
    assert_eq!(get(&raw mut found, null_mut()), RMW_RET_INVALID_ARGUMENT);
    assert_eq!(get(&raw mut found, &raw mut allocator), RMW_RET_OK);
    // SAFETY: the call made this string, which ends with 0.
    assert_eq!(unsafe { CStr::from_ptr(found.filter_expression) }, c"number = 1");
    assert_eq!(found.expression_parameters.size, 0);
    // SAFETY: as above; the string is not used again.
    unsafe { libc::free(found.filter_expression.cast()) };
    (0..3).for_each(|number| publish(publisher, Point { x: 0.0, number }));
    assert_eq!(take_numbers(subscription), [1]);
    ros.end(&[publisher], &[subscription]);
}
