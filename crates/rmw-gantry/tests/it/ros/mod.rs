//! A context, a node and endpoints for the tests.

mod functions;
mod types;

pub use functions::*;
pub use types::*;

use rmw_abi::bindings::*;
use std::{
    ffi::{CStr, c_void},
    ptr::null_mut,
    sync::atomic::{AtomicU32, Ordering::Relaxed},
};

pub const TIME_LIMIT: rmw_time_t = rmw_time_t { sec: 10, nsec: 0 };
pub const NOW: rmw_time_t = rmw_time_t { sec: 0, nsec: 0 };

/// `rmw_qos_profile_default`.
pub const DEFAULT_QOS: rmw_qos_profile_t = rmw_qos_profile_t {
    history: RMW_QOS_POLICY_HISTORY_KEEP_LAST,
    depth: 10,
    reliability: RMW_QOS_POLICY_RELIABILITY_RELIABLE,
    durability: RMW_QOS_POLICY_DURABILITY_VOLATILE,
    deadline: NOW,
    lifespan: NOW,
    liveliness: RMW_QOS_POLICY_LIVELINESS_SYSTEM_DEFAULT,
    liveliness_lease_duration: NOW,
    avoid_ros_namespace_conventions: false,
};

/// A handle that several threads use at the same time. `rmw` allows this.
pub struct Shared<T>(*mut T);

// SAFETY: any thread may use the objects of `rmw_gantry`.
unsafe impl<T> Send for Shared<T> {}
// SAFETY: as above.
unsafe impl<T> Sync for Shared<T> {}

impl<T> Shared<T> {
    pub fn new(handle: *mut T) -> Shared<T> {
        assert!(!handle.is_null());
        Shared(handle)
    }

    pub fn get(&self) -> *mut T {
        self.0
    }
}

// SAFETY: any thread may use a context and its nodes.
unsafe impl Send for Ros {}
// SAFETY: as above.
unsafe impl Sync for Ros {}

/// A context with one node, in a separate domain.
pub struct Ros {
    pub context: Box<rmw_context_of<Jazzy>>,
    pub node: *mut rmw_node_t,
}

impl Ros {
    pub fn new() -> Ros {
        static DOMAIN: AtomicU32 = AtomicU32::new(100);
        Ros::in_domain(DOMAIN.fetch_add(1, Relaxed) as usize, RMW_AUTOMATIC_DISCOVERY_RANGE_LOCALHOST)
    }

    /// Creates the context and the node in a given domain, which other tests may use, too.
    pub fn in_domain(domain_id: usize, range: rmw_automatic_discovery_range_t) -> Ros {
        // SAFETY: all bits 0 are valid options, which are not initialized.
        let mut options: rmw_init_options_of<Jazzy> = unsafe { std::mem::zeroed() };
        // SAFETY: all bits 0 are a valid context, which is not initialized.
        let mut context: Box<rmw_context_of<Jazzy>> = Box::new(unsafe { std::mem::zeroed() });
        options.implementation_identifier = c"rmw_gantry".as_ptr();
        options.domain_id = domain_id;
        options.discovery_options.automatic_discovery_range = range;
        options.enclave = c"/".as_ptr().cast_mut();
        options.allocator = malloc();
        options.discovery_options.allocator = malloc();
        // SAFETY: the options are initialized, and the context is new.
        assert_eq!(unsafe { rmw_init((&raw const options).cast(), (&raw mut *context).cast()) }, RMW_RET_OK);
        // SAFETY: this library made the context, and both strings end with 0.
        let node = unsafe { rmw_create_node((&raw mut *context).cast(), c"tester".as_ptr(), c"/".as_ptr()) };
        assert!(!node.is_null());
        Ros { context, node }
    }

    pub fn publisher(&self, topic: &CStr, qos: &rmw_qos_profile_t) -> *mut rmw_publisher_t {
        self.publisher_of(point_type(), topic, qos)
    }

    pub fn publisher_of(
        &self,
        message_type: *const rosidl_message_type_support_t,
        topic: &CStr,
        qos: &rmw_qos_profile_t,
    ) -> *mut rmw_publisher_t {
        let options = rmw_publisher_options_t {
            rmw_specific_publisher_payload: null_mut(),
            require_unique_network_flow_endpoints: RMW_UNIQUE_NETWORK_FLOW_ENDPOINTS_NOT_REQUIRED,
        };
        // SAFETY: this library made the node; the type support stays, and the other pointers are valid.
        unsafe { rmw_create_publisher(self.node, message_type, topic.as_ptr(), qos, &raw const options) }
    }

    pub fn subscription(&self, topic: &CStr, qos: &rmw_qos_profile_t) -> *mut rmw_subscription_t {
        self.subscription_of(point_type(), topic, qos)
    }

    pub fn subscription_of(
        &self,
        message_type: *const rosidl_message_type_support_t,
        topic: &CStr,
        qos: &rmw_qos_profile_t,
    ) -> *mut rmw_subscription_t {
        let options = rmw_subscription_options_t {
            rmw_specific_subscription_payload: null_mut(),
            ignore_local_publications: false,
            require_unique_network_flow_endpoints: RMW_UNIQUE_NETWORK_FLOW_ENDPOINTS_NOT_REQUIRED,
            content_filter_options: null_mut(),
        };
        // SAFETY: this library made the node; the type support stays, and the other pointers are valid.
        unsafe { rmw_create_subscription(self.node, message_type, topic.as_ptr(), qos, &raw const options) }
    }

    /// The address of the context, for `rmw` functions. They lock the state that they change.
    pub fn context(&self) -> *mut rmw_context_t {
        std::ptr::from_ref(&*self.context).cast_mut().cast()
    }

    /// Destroys the endpoints, the node and the context. `rmw_context_fini` fails if a node is left.
    pub fn end(self, publishers: &[*mut rmw_publisher_t], subscriptions: &[*mut rmw_subscription_t]) {
        for publisher in publishers {
            // SAFETY: this library made the node and the publisher, which is not used again; the same holds below.
            assert_eq!(unsafe { rmw_destroy_publisher(self.node, *publisher) }, RMW_RET_OK);
        }
        for subscription in subscriptions {
            // SAFETY: as above.
            assert_eq!(unsafe { rmw_destroy_subscription(self.node, *subscription) }, RMW_RET_OK);
        }
        // SAFETY: as above.
        assert_eq!(unsafe { rmw_destroy_node(self.node) }, RMW_RET_OK);
        // SAFETY: as above.
        assert_eq!(unsafe { rmw_shutdown(self.context()) }, RMW_RET_OK);
        // SAFETY: as above.
        assert_eq!(unsafe { rmw_context_fini(self.context()) }, RMW_RET_OK);
    }
}

/// `rcutils_get_default_allocator`.
pub fn malloc() -> rcutils_allocator_t {
    unsafe extern "C" fn allocate(size: usize, _: *mut c_void) -> *mut c_void {
        // SAFETY: `malloc` accepts any size.
        unsafe { libc::malloc(size) }
    }
    unsafe extern "C" fn deallocate(pointer: *mut c_void, _: *mut c_void) {
        // SAFETY: `malloc` returned the pointer.
        unsafe { libc::free(pointer) }
    }
    unsafe extern "C" fn reallocate(pointer: *mut c_void, size: usize, _: *mut c_void) -> *mut c_void {
        // SAFETY: `malloc` returned the pointer.
        unsafe { libc::realloc(pointer, size) }
    }
    unsafe extern "C" fn zero_allocate(count: usize, size: usize, _: *mut c_void) -> *mut c_void {
        // SAFETY: `calloc` accepts any size.
        unsafe { libc::calloc(count, size) }
    }
    rcutils_allocator_t {
        allocate: Some(allocate),
        deallocate: Some(deallocate),
        reallocate: Some(reallocate),
        zero_allocate: Some(zero_allocate),
        state: null_mut(),
    }
}

pub fn publish(publisher: *const rmw_publisher_t, point: Point) {
    // SAFETY: this library made the publisher, and the message has its type.
    assert_eq!(unsafe { rmw_publish(publisher, (&raw const point).cast(), null_mut()) }, RMW_RET_OK);
}

pub fn take(subscription: *const rmw_subscription_t) -> Option<(Point, rmw_message_info_t)> {
    let (mut point, mut taken) = (Point::default(), false);
    // SAFETY: all bits 0 are a valid info, without a publisher.
    let mut info: rmw_message_info_t = unsafe { std::mem::zeroed() };
    let (message, taken_at, info_at) = ((&raw mut point).cast(), &raw mut taken, &raw mut info);
    // SAFETY: this library made the subscription; the message has its type, and the other pointers are outputs.
    let code = unsafe { rmw_take_with_info(subscription, message, taken_at, info_at, null_mut()) };
    assert_eq!(code, RMW_RET_OK);
    taken.then_some((point, info))
}

/// Takes all points that can be taken now, and returns their numbers.
pub fn take_numbers(subscription: *const rmw_subscription_t) -> Vec<u64> {
    std::iter::from_fn(|| take(subscription)).map(|(point, _)| point.number).collect()
}

/// Waits for the conditions. Returns the return code, and a flag for each condition that is true if it is ready.
pub fn wait(
    wait_set: *mut rmw_wait_set_t,
    subscriptions: &[*mut rmw_subscription_t],
    guard_conditions: &[*const rmw_guard_condition_t],
    events: &mut [rmw_event_t],
    timeout: rmw_time_t,
) -> (rmw_ret_t, Vec<bool>) {
    // SAFETY: this library made the handles.
    let mut subscribers: Vec<_> = subscriptions.iter().map(|handle| unsafe { (**handle).data }).collect();
    // SAFETY: as above.
    let mut guards: Vec<_> = guard_conditions.iter().map(|handle| unsafe { (**handle).data }).collect();
    let mut of_events: Vec<*mut c_void> = events.iter_mut().map(|event| (&raw mut *event).cast()).collect();
    let mut subscriptions =
        rmw_subscriptions_t { subscriber_count: subscribers.len(), subscribers: subscribers.as_mut_ptr() };
    let mut guard_conditions =
        rmw_guard_conditions_t { guard_condition_count: guards.len(), guard_conditions: guards.as_mut_ptr() };
    let mut events = rmw_events_t { event_count: of_events.len(), events: of_events.as_mut_ptr() };
    let (subscriptions, guard_conditions, events) =
        (&raw mut subscriptions, &raw mut guard_conditions, &raw mut events);
    // SAFETY: the arrays have these lengths, and contain the `data` of this library's handles.
    let code = unsafe {
        rmw_wait(subscriptions, guard_conditions, null_mut(), null_mut(), events, wait_set, &raw const timeout)
    };
    let all = subscribers.iter().chain(&guards).chain(&of_events);
    (code, all.map(|element| !element.is_null()).collect())
}
