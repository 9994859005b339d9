//! A context, a node and endpoints of a message type that this test describes as ROS 2's generated code would.

use rmw_gantry::bindings::*;
use std::{
    ffi::{CStr, c_char, c_void},
    ptr::{null, null_mut},
    sync::{
        Mutex,
        atomic::{AtomicU32, Ordering::Relaxed},
    },
};

unsafe extern "C" {
    pub fn rmw_init(options: *const rmw_init_options_t, context: *mut rmw_context_t) -> rmw_ret_t;
    pub fn rmw_shutdown(context: *mut rmw_context_t) -> rmw_ret_t;
    pub fn rmw_context_fini(context: *mut rmw_context_t) -> rmw_ret_t;
    pub fn rmw_create_node(
        context: *mut rmw_context_t,
        name: *const c_char,
        namespace_: *const c_char,
    ) -> *mut rmw_node_t;
    pub fn rmw_destroy_node(node: *mut rmw_node_t) -> rmw_ret_t;
    pub fn rmw_node_get_graph_guard_condition(node: *const rmw_node_t) -> *const rmw_guard_condition_t;
    pub fn rmw_create_publisher(
        node: *const rmw_node_t,
        type_support: *const rosidl_message_type_support_t,
        topic_name: *const c_char,
        qos_profile: *const rmw_qos_profile_t,
        publisher_options: *const rmw_publisher_options_t,
    ) -> *mut rmw_publisher_t;
    pub fn rmw_destroy_publisher(node: *mut rmw_node_t, publisher: *mut rmw_publisher_t) -> rmw_ret_t;
    pub fn rmw_publish(
        publisher: *const rmw_publisher_t,
        ros_message: *const c_void,
        allocation: *mut rmw_publisher_allocation_t,
    ) -> rmw_ret_t;
    pub fn rmw_borrow_loaned_message(
        publisher: *const rmw_publisher_t,
        type_support: *const rosidl_message_type_support_t,
        ros_message: *mut *mut c_void,
    ) -> rmw_ret_t;
    pub fn rmw_publish_loaned_message(
        publisher: *const rmw_publisher_t,
        ros_message: *mut c_void,
        allocation: *mut rmw_publisher_allocation_t,
    ) -> rmw_ret_t;
    pub fn rmw_return_loaned_message_from_publisher(
        publisher: *const rmw_publisher_t,
        loaned_message: *mut c_void,
    ) -> rmw_ret_t;
    pub fn rmw_create_subscription(
        node: *const rmw_node_t,
        type_support: *const rosidl_message_type_support_t,
        topic_name: *const c_char,
        qos_policies: *const rmw_qos_profile_t,
        subscription_options: *const rmw_subscription_options_t,
    ) -> *mut rmw_subscription_t;
    pub fn rmw_destroy_subscription(node: *mut rmw_node_t, subscription: *mut rmw_subscription_t) -> rmw_ret_t;
    pub fn rmw_take_with_info(
        subscription: *const rmw_subscription_t,
        ros_message: *mut c_void,
        taken: *mut bool,
        message_info: *mut rmw_message_info_t,
        allocation: *mut rmw_subscription_allocation_t,
    ) -> rmw_ret_t;
    pub fn rmw_take_loaned_message(
        subscription: *const rmw_subscription_t,
        loaned_message: *mut *mut c_void,
        taken: *mut bool,
        allocation: *mut rmw_subscription_allocation_t,
    ) -> rmw_ret_t;
    pub fn rmw_return_loaned_message_from_subscription(
        subscription: *const rmw_subscription_t,
        loaned_message: *mut c_void,
    ) -> rmw_ret_t;
    pub fn rmw_subscription_set_on_new_message_callback(
        subscription: *mut rmw_subscription_t,
        callback: rmw_event_callback_t,
        user_data: *const c_void,
    ) -> rmw_ret_t;
    pub fn rmw_create_service(
        node: *const rmw_node_t,
        type_support: *const rosidl_service_type_support_t,
        service_name: *const c_char,
        qos_profile: *const rmw_qos_profile_t,
    ) -> *mut rmw_service_t;
    pub fn rmw_destroy_service(node: *mut rmw_node_t, service: *mut rmw_service_t) -> rmw_ret_t;
    pub fn rmw_send_response(
        service: *const rmw_service_t,
        request_header: *mut rmw_request_id_t,
        ros_response: *mut c_void,
    ) -> rmw_ret_t;
    pub fn rmw_take_request(
        service: *const rmw_service_t,
        request_header: *mut rmw_service_info_t,
        ros_request: *mut c_void,
        taken: *mut bool,
    ) -> rmw_ret_t;
    pub fn rmw_create_client(
        node: *const rmw_node_t,
        type_support: *const rosidl_service_type_support_t,
        service_name: *const c_char,
        qos_policies: *const rmw_qos_profile_t,
    ) -> *mut rmw_client_t;
    pub fn rmw_destroy_client(node: *mut rmw_node_t, client: *mut rmw_client_t) -> rmw_ret_t;
    pub fn rmw_send_request(
        client: *const rmw_client_t,
        ros_request: *const c_void,
        sequence_id: *mut i64,
    ) -> rmw_ret_t;
    pub fn rmw_take_response(
        client: *const rmw_client_t,
        request_header: *mut rmw_service_info_t,
        ros_response: *mut c_void,
        taken: *mut bool,
    ) -> rmw_ret_t;
    pub fn rmw_service_server_is_available(
        node: *const rmw_node_t,
        client: *const rmw_client_t,
        is_available: *mut bool,
    ) -> rmw_ret_t;
    pub fn rmw_publisher_count_matched_subscriptions(
        publisher: *const rmw_publisher_t,
        subscription_count: *mut usize,
    ) -> rmw_ret_t;
    pub fn rmw_create_guard_condition(context: *mut rmw_context_t) -> *mut rmw_guard_condition_t;
    pub fn rmw_destroy_guard_condition(guard_condition: *mut rmw_guard_condition_t) -> rmw_ret_t;
    pub fn rmw_trigger_guard_condition(guard_condition: *const rmw_guard_condition_t) -> rmw_ret_t;
    pub fn rmw_create_wait_set(context: *mut rmw_context_t, max_conditions: usize) -> *mut rmw_wait_set_t;
    pub fn rmw_destroy_wait_set(wait_set: *mut rmw_wait_set_t) -> rmw_ret_t;
    pub fn rmw_wait(
        subscriptions: *mut rmw_subscriptions_t,
        guard_conditions: *mut rmw_guard_conditions_t,
        services: *mut c_void,
        clients: *mut c_void,
        events: *mut rmw_events_t,
        wait_set: *mut rmw_wait_set_t,
        wait_timeout: *const rmw_time_t,
    ) -> rmw_ret_t;
    pub fn rmw_publisher_event_init(
        rmw_event: *mut rmw_event_t,
        publisher: *const rmw_publisher_t,
        event_type: rmw_event_type_t,
    ) -> rmw_ret_t;
    pub fn rmw_subscription_event_init(
        rmw_event: *mut rmw_event_t,
        subscription: *const rmw_subscription_t,
        event_type: rmw_event_type_t,
    ) -> rmw_ret_t;
    pub fn rmw_take_event(event_handle: *const rmw_event_t, event_info: *mut c_void, taken: *mut bool) -> rmw_ret_t;
    pub fn rmw_event_set_callback(
        event: *mut rmw_event_t,
        callback: rmw_event_callback_t,
        user_data: *const c_void,
    ) -> rmw_ret_t;
}

/// A message of a plain type: its C struct is its CDR.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Point {
    pub x: f64,
    pub number: u64,
}

/// A message of any size, as C's sequence has it.
#[repr(C)]
pub struct Bytes {
    pub data: *mut u8,
    pub size: usize,
    pub capacity: usize,
}

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

/// The type support of [`Point`], which stays for ever.
pub fn point_type() -> *const rosidl_message_type_support_t {
    let members = [member(c"x", ROS_TYPE_DOUBLE, 0), member(c"number", ROS_TYPE_UINT64, 8)];
    message_type(c"Point", size_of::<Point>(), members)
}

/// The type support of [`Bytes`], which stays for ever.
pub fn bytes_type() -> *const rosidl_message_type_support_t {
    unsafe extern "C-unwind" fn resize(_: *mut c_void, _: usize) {
        unreachable!("no test takes bytes");
    }
    let data = MessageMember { is_array_: true, resize_function: Some(resize), ..member(c"data", ROS_TYPE_UINT8, 0) };
    message_type(c"Bytes", size_of::<Bytes>(), [data])
}

fn member(name: &'static CStr, type_id_: u8, offset_: u32) -> MessageMember {
    MessageMember {
        name_: name.as_ptr(),
        type_id_,
        string_upper_bound_: 0,
        members_: null(),
        is_key_: false,
        is_array_: false,
        array_size_: 0,
        is_upper_bound_: false,
        offset_,
        default_value_: null(),
        size_function: None,
        get_const_function: None,
        get_function: None,
        fetch_function: None,
        assign_function: None,
        resize_function: None,
    }
}

/// Keeps a part of a type support for the life of the process. The list makes it reachable, so that it is no leak for
/// AddressSanitizer.
fn keep<T>(part: T) -> &'static T {
    static KEPT: Mutex<Vec<usize>> = Mutex::new(Vec::new());
    let part = Box::leak(Box::new(part));
    KEPT.lock().unwrap().push(std::ptr::from_ref(part).addr());
    part
}

/// All messages of these tests are valid when they are zeros.
unsafe extern "C" fn init(_: *mut c_void, _: std::ffi::c_uint) {}

/// No message of these tests has memory of its own.
unsafe extern "C" fn fini(_: *mut c_void) {}

fn message_type<const N: usize>(
    name: &'static CStr,
    size_of_: usize,
    members: [MessageMember; N],
) -> *const rosidl_message_type_support_t {
    unsafe extern "C" fn itself(
        handle: *const rosidl_message_type_support_t,
        identifier: *const c_char,
    ) -> *const rosidl_message_type_support_t {
        // SAFETY: the identifiers of type supports are strings that end with 0.
        let is_asked = unsafe { CStr::from_ptr(identifier) } == c"rosidl_typesupport_introspection_c";
        if is_asked { handle } else { null() }
    }
    unsafe extern "C" fn hash(_: *const rosidl_message_type_support_t) -> *const rosidl_type_hash_t {
        static HASH: rosidl_type_hash_t = rosidl_type_hash_t { version: 1, value: [7; 32] };
        &raw const HASH
    }
    let members: &'static [MessageMember; N] = keep(members);
    let message = MessageMembers {
        message_namespace_: c"test_rmw__msg".as_ptr(),
        message_name_: name.as_ptr(),
        member_count_: N as u32,
        size_of_,
        has_any_key_member_: false,
        members_: members.as_ptr(),
        init_function: Some(init),
        fini_function: Some(fini),
    };
    keep(rosidl_message_type_support_t {
        typesupport_identifier: c"rosidl_typesupport_introspection_c".as_ptr(),
        data: std::ptr::from_ref(keep(message)).cast(),
        func: Some(itself),
        get_type_hash_func: Some(hash),
        get_type_description_func: null(),
        get_type_description_sources_func: null(),
    })
}

/// The type support of a service whose requests and responses are each a [`Point`]; it stays for ever.
pub fn ask_type() -> *const rosidl_service_type_support_t {
    service_type(c"Ask", point_type())
}

/// The type support of a service whose requests are a [`Point`], and whose responses are [`Bytes`].
pub fn load_type() -> *const rosidl_service_type_support_t {
    service_type(c"Load", bytes_type())
}

fn service_type(
    name: &'static CStr,
    response_typesupport: *const rosidl_message_type_support_t,
) -> *const rosidl_service_type_support_t {
    unsafe extern "C" fn itself(
        handle: *const rosidl_service_type_support_t,
        identifier: *const c_char,
    ) -> *const rosidl_service_type_support_t {
        // SAFETY: the identifiers of type supports are strings that end with 0.
        let is_asked = unsafe { CStr::from_ptr(identifier) } == c"rosidl_typesupport_introspection_c";
        if is_asked { handle } else { null() }
    }
    let members = ServiceMembers {
        service_namespace_: c"test_rmw__srv".as_ptr(),
        service_name_: name.as_ptr(),
        request_members_: null(),
        response_members_: null(),
        event_members_: null(),
    };
    keep(rosidl_service_type_support_t {
        typesupport_identifier: c"rosidl_typesupport_introspection_c".as_ptr(),
        data: std::ptr::from_ref(keep(members)).cast(),
        func: Some(itself),
        request_typesupport: point_type(),
        response_typesupport,
        event_typesupport: null(),
        event_message_create_handle_function: null(),
        event_message_destroy_handle_function: null(),
        get_type_hash_func: None,
        get_type_description_func: null(),
        get_type_description_sources_func: null(),
    })
}

/// A handle that several threads use at the same time, as `rmw` allows.
pub struct Shared<T>(*mut T);

// SAFETY: the entities of `rmw_gantry` may be used by any thread.
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

/// A context with a node, in a domain of its own.
pub struct Ros {
    pub context: Box<rmw_context_of<Jazzy>>,
    pub node: *mut rmw_node_t,
}

impl Ros {
    pub fn new() -> Ros {
        static DOMAIN: AtomicU32 = AtomicU32::new(100);
        Ros::in_domain(DOMAIN.fetch_add(1, Relaxed) as usize, RMW_AUTOMATIC_DISCOVERY_RANGE_LOCALHOST)
    }

    /// In a domain that others may have.
    pub fn in_domain(domain_id: usize, range: rmw_automatic_discovery_range_t) -> Ros {
        // SAFETY: zeros are options that are not initialized.
        let mut options: rmw_init_options_of<Jazzy> = unsafe { std::mem::zeroed() };
        // SAFETY: likewise for a context.
        let mut context: Box<rmw_context_of<Jazzy>> = Box::new(unsafe { std::mem::zeroed() });
        options.implementation_identifier = c"rmw_gantry".as_ptr();
        options.domain_id = domain_id;
        options.discovery_options.automatic_discovery_range = range;
        options.enclave = c"/".as_ptr().cast_mut();
        options.allocator = malloc();
        options.discovery_options.allocator = malloc();
        // SAFETY: initialized options and a new context.
        assert_eq!(unsafe { rmw_init((&raw const options).cast(), (&raw mut *context).cast()) }, RMW_RET_OK);
        // SAFETY: a context of this library, and strings.
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
        // SAFETY: a node of this library, a type support that stays, a string, a profile and options.
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
        // SAFETY: as for the publisher.
        unsafe { rmw_create_subscription(self.node, message_type, topic.as_ptr(), qos, &raw const options) }
    }

    /// The context's address for `rmw`, which locks what it changes there.
    pub fn context(&self) -> *mut rmw_context_t {
        std::ptr::from_ref(&*self.context).cast_mut().cast()
    }

    /// Destroys everything; nothing of it is left.
    pub fn end(self, publishers: &[*mut rmw_publisher_t], subscriptions: &[*mut rmw_subscription_t]) {
        for publisher in publishers {
            // SAFETY: a node and a publisher of this library, which this test does not use any more; likewise below.
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
        // SAFETY: malloc takes any size.
        unsafe { libc::malloc(size) }
    }
    unsafe extern "C" fn deallocate(pointer: *mut c_void, _: *mut c_void) {
        // SAFETY: a pointer of malloc.
        unsafe { libc::free(pointer) }
    }
    unsafe extern "C" fn reallocate(pointer: *mut c_void, size: usize, _: *mut c_void) -> *mut c_void {
        // SAFETY: a pointer of malloc.
        unsafe { libc::realloc(pointer, size) }
    }
    unsafe extern "C" fn zero_allocate(count: usize, size: usize, _: *mut c_void) -> *mut c_void {
        // SAFETY: calloc takes any size.
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
    // SAFETY: a publisher of this library and a message of its type.
    assert_eq!(unsafe { rmw_publish(publisher, (&raw const point).cast(), null_mut()) }, RMW_RET_OK);
}

pub fn take(subscription: *const rmw_subscription_t) -> Option<(Point, rmw_message_info_t)> {
    let (mut point, mut taken) = (Point::default(), false);
    // SAFETY: zeros are an info without a publisher.
    let mut info: rmw_message_info_t = unsafe { std::mem::zeroed() };
    let (message, taken_at, info_at) = ((&raw mut point).cast(), &raw mut taken, &raw mut info);
    // SAFETY: a subscription of this library, a message of its type, and outputs.
    let code = unsafe { rmw_take_with_info(subscription, message, taken_at, info_at, null_mut()) };
    assert_eq!(code, RMW_RET_OK);
    taken.then_some((point, info))
}

/// The numbers of the points that can be taken now.
pub fn take_numbers(subscription: *const rmw_subscription_t) -> Vec<u64> {
    std::iter::from_fn(|| take(subscription)).map(|(point, _)| point.number).collect()
}

/// Waits; returns the code and whether each condition is ready.
pub fn wait(
    wait_set: *mut rmw_wait_set_t,
    subscriptions: &[*mut rmw_subscription_t],
    guard_conditions: &[*const rmw_guard_condition_t],
    events: &mut [rmw_event_t],
    timeout: rmw_time_t,
) -> (rmw_ret_t, Vec<bool>) {
    // SAFETY: handles of this library.
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
    // SAFETY: arrays of these lengths, with the data of handles of this library.
    let code = unsafe {
        rmw_wait(subscriptions, guard_conditions, null_mut(), null_mut(), events, wait_set, &raw const timeout)
    };
    let all = subscribers.iter().chain(&guards).chain(&of_events);
    (code, all.map(|element| !element.is_null()).collect())
}
