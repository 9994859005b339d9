//! The functions of an RMW that the bridge calls, looked up by their names.

use super::symbols::Symbols;
use rmw_abi::bindings::*;
use std::ffi::{c_char, c_void};

/// Declares a struct of function pointers, and a function that fills it in from a library.
macro_rules! functions {
    ($($name:ident: fn($($argument:ty),* $(,)?) $(-> $result:ty)?;)*) => {
        /// Pointers to the functions, with their names in ROS 2's headers.
        #[allow(non_snake_case)]
        pub struct Functions {
            $(pub $name: unsafe extern "C" fn($($argument),*) $(-> $result)?,)*
        }

        impl Functions {
            /// Looks up all functions. The error is the name of the first missing function.
            pub fn find(symbols: &Symbols) -> Result<Functions, &'static str> {
                Ok(Functions {
                    $($name: {
                        let address = symbols.find(stringify!($name)).ok_or(stringify!($name))?;
                        // SAFETY: the function of this name has this type (R5), and its library stays loaded (R1).
                        unsafe { std::mem::transmute::<*mut c_void, unsafe extern "C" fn($($argument),*) $(-> $result)?>(address) }
                    },)*
                })
            }
        }
    };
}

functions! {
    rmw_get_implementation_identifier: fn() -> *const c_char;
    rmw_init_options_init: fn(*mut rmw_init_options_t, rcutils_allocator_t) -> rmw_ret_t;
    rmw_init_options_fini: fn(*mut rmw_init_options_t) -> rmw_ret_t;
    rmw_init: fn(*const rmw_init_options_t, *mut rmw_context_t) -> rmw_ret_t;
    rmw_shutdown: fn(*mut rmw_context_t) -> rmw_ret_t;
    rmw_context_fini: fn(*mut rmw_context_t) -> rmw_ret_t;
    rmw_create_node: fn(*mut rmw_context_t, *const c_char, *const c_char) -> *mut rmw_node_t;
    rmw_destroy_node: fn(*mut rmw_node_t) -> rmw_ret_t;
    rmw_node_get_graph_guard_condition: fn(*const rmw_node_t) -> *const rmw_guard_condition_t;
    rmw_create_publisher: fn(
        *const rmw_node_t, *const rosidl_message_type_support_t, *const c_char, *const rmw_qos_profile_t,
        *const rmw_publisher_options_t,
    ) -> *mut rmw_publisher_t;
    rmw_destroy_publisher: fn(*mut rmw_node_t, *mut rmw_publisher_t) -> rmw_ret_t;
    rmw_get_gid_for_publisher: fn(*const rmw_publisher_t, *mut rmw_gid_t) -> rmw_ret_t;
    rmw_publish_serialized_message: fn(
        *const rmw_publisher_t, *const rmw_serialized_message_t, *mut rmw_publisher_allocation_t,
    ) -> rmw_ret_t;
    rmw_create_subscription: fn(
        *const rmw_node_t, *const rosidl_message_type_support_t, *const c_char, *const rmw_qos_profile_t,
        *const rmw_subscription_options_t,
    ) -> *mut rmw_subscription_t;
    rmw_destroy_subscription: fn(*mut rmw_node_t, *mut rmw_subscription_t) -> rmw_ret_t;
    rmw_take_serialized_message_with_info: fn(
        *const rmw_subscription_t, *mut rmw_serialized_message_t, *mut bool, *mut rmw_message_info_t,
        *mut rmw_subscription_allocation_t,
    ) -> rmw_ret_t;
    rmw_create_client: fn(
        *const rmw_node_t, *const rosidl_service_type_support_t, *const c_char, *const rmw_qos_profile_t,
    ) -> *mut rmw_client_t;
    rmw_destroy_client: fn(*mut rmw_node_t, *mut rmw_client_t) -> rmw_ret_t;
    rmw_send_request: fn(*const rmw_client_t, *const c_void, *mut i64) -> rmw_ret_t;
    rmw_take_response: fn(*const rmw_client_t, *mut rmw_service_info_t, *mut c_void, *mut bool) -> rmw_ret_t;
    rmw_service_server_is_available: fn(*const rmw_node_t, *const rmw_client_t, *mut bool) -> rmw_ret_t;
    rmw_create_service: fn(
        *const rmw_node_t, *const rosidl_service_type_support_t, *const c_char, *const rmw_qos_profile_t,
    ) -> *mut rmw_service_t;
    rmw_destroy_service: fn(*mut rmw_node_t, *mut rmw_service_t) -> rmw_ret_t;
    rmw_take_request: fn(*const rmw_service_t, *mut rmw_service_info_t, *mut c_void, *mut bool) -> rmw_ret_t;
    rmw_send_response: fn(*const rmw_service_t, *mut rmw_request_id_t, *mut c_void) -> rmw_ret_t;
    rmw_create_guard_condition: fn(*mut rmw_context_t) -> *mut rmw_guard_condition_t;
    rmw_destroy_guard_condition: fn(*mut rmw_guard_condition_t) -> rmw_ret_t;
    rmw_trigger_guard_condition: fn(*const rmw_guard_condition_t) -> rmw_ret_t;
    rmw_create_wait_set: fn(*mut rmw_context_t, usize) -> *mut rmw_wait_set_t;
    rmw_destroy_wait_set: fn(*mut rmw_wait_set_t) -> rmw_ret_t;
    rmw_wait: fn(
        *mut rmw_subscriptions_t, *mut rmw_guard_conditions_t, *mut rmw_services_t, *mut rmw_clients_t,
        *mut rmw_events_t, *mut rmw_wait_set_t, *const rmw_time_t,
    ) -> rmw_ret_t;
    rmw_get_node_names_with_enclaves: fn(
        *const rmw_node_t, *mut rcutils_string_array_t, *mut rcutils_string_array_t, *mut rcutils_string_array_t,
    ) -> rmw_ret_t;
    rmw_get_topic_names_and_types: fn(
        *const rmw_node_t, *mut rcutils_allocator_t, bool, *mut rmw_names_and_types_t,
    ) -> rmw_ret_t;
    rmw_get_publishers_info_by_topic: fn(
        *const rmw_node_t, *mut rcutils_allocator_t, *const c_char, bool, *mut rmw_topic_endpoint_info_array_t,
    ) -> rmw_ret_t;
    rmw_get_subscriptions_info_by_topic: fn(
        *const rmw_node_t, *mut rcutils_allocator_t, *const c_char, bool, *mut rmw_topic_endpoint_info_array_t,
    ) -> rmw_ret_t;
    rmw_get_service_names_and_types_by_node: fn(
        *const rmw_node_t, *mut rcutils_allocator_t, *const c_char, *const c_char, *mut rmw_names_and_types_t,
    ) -> rmw_ret_t;
    rmw_get_client_names_and_types_by_node: fn(
        *const rmw_node_t, *mut rcutils_allocator_t, *const c_char, *const c_char, *mut rmw_names_and_types_t,
    ) -> rmw_ret_t;
    // The functions below are in librmw and librcutils, which each RMW links.
    rmw_names_and_types_fini: fn(*mut rmw_names_and_types_t) -> rmw_ret_t;
    rmw_topic_endpoint_info_array_fini: fn(*mut rmw_topic_endpoint_info_array_t, *mut rcutils_allocator_t) -> rmw_ret_t;
    rcutils_string_array_fini: fn(*mut rcutils_string_array_t) -> rmw_ret_t;
    rcutils_get_default_allocator: fn() -> rcutils_allocator_t;
    rcutils_strdup: fn(*const c_char, rcutils_allocator_t) -> *mut c_char;
    rcutils_get_error_string: fn() -> ErrorString;
    rcutils_reset_error: fn();
}

/// `rcutils_error_string_t`.
#[repr(C)]
pub struct ErrorString {
    pub str: [c_char; 1024],
}
