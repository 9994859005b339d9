//! The functions of `rmw` that the tests call.

use rmw_abi::bindings::*;
use std::ffi::{c_char, c_void};

unsafe extern "C" {
    pub fn rmw_gantry_in_place() -> *const rmw_gantry_functions;
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
