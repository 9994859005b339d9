//! The types of type supports, from `rosidl_runtime_c` and `rosidl_typesupport_introspection_c`. C++ introspection has
//! the same layout, but its `resize_function` returns nothing.

use std::ffi::{c_char, c_uint, c_void};

#[repr(C)]
pub struct rosidl_runtime_c__String {
    pub data: *mut c_char,
    pub size: usize,
    pub capacity: usize,
}

#[repr(C)]
pub struct rosidl_runtime_c__U16String {
    pub data: *mut u16,
    pub size: usize,
    pub capacity: usize,
}

/// A sequence of any primitive type: all of them have the layout of `rosidl_runtime_c__uint8__Sequence`.
#[repr(C)]
pub struct rosidl_runtime_c__Sequence {
    pub data: *mut c_void,
    pub size: usize,
    pub capacity: usize,
}

/// The hash of a type. `version` 1 means RIHS01.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct rosidl_type_hash_t {
    pub version: u8,
    pub value: [u8; 32],
}

/// The type support of a message. Gantry does not read the type description and its sources, so their types are opaque.
#[repr(C)]
pub struct rosidl_message_type_support_t {
    pub typesupport_identifier: *const c_char,
    pub data: *const c_void,
    pub func: Option<
        unsafe extern "C" fn(
            *const rosidl_message_type_support_t,
            *const c_char,
        ) -> *const rosidl_message_type_support_t,
    >,
    pub get_type_hash_func:
        Option<unsafe extern "C" fn(*const rosidl_message_type_support_t) -> *const rosidl_type_hash_t>,
    pub get_type_description_func: *const c_void,
    pub get_type_description_sources_func: *const c_void,
}

#[repr(C)]
pub struct rosidl_service_type_support_t {
    pub typesupport_identifier: *const c_char,
    pub data: *const c_void,
    pub func: Option<
        unsafe extern "C" fn(
            *const rosidl_service_type_support_t,
            *const c_char,
        ) -> *const rosidl_service_type_support_t,
    >,
    pub request_typesupport: *const rosidl_message_type_support_t,
    pub response_typesupport: *const rosidl_message_type_support_t,
    pub event_typesupport: *const rosidl_message_type_support_t,
    pub event_message_create_handle_function: *const c_void,
    pub event_message_destroy_handle_function: *const c_void,
    pub get_type_hash_func:
        Option<unsafe extern "C" fn(*const rosidl_service_type_support_t) -> *const rosidl_type_hash_t>,
    pub get_type_description_func: *const c_void,
    pub get_type_description_sources_func: *const c_void,
}

/// An opaque type, because Gantry has no dynamic messages.
pub type rosidl_dynamic_typesupport_dynamic_data_t = c_void;

/// An opaque type, because Gantry has no dynamic messages.
pub type rosidl_dynamic_typesupport_serialization_support_t = c_void;

/// An opaque type, because Gantry does not use the bounds of messages.
pub type rosidl_runtime_c__Sequence__bound = c_void;

pub const ROS_TYPE_FLOAT: u8 = 1;
pub const ROS_TYPE_DOUBLE: u8 = 2;
pub const ROS_TYPE_LONG_DOUBLE: u8 = 3;
pub const ROS_TYPE_CHAR: u8 = 4;
pub const ROS_TYPE_WCHAR: u8 = 5;
pub const ROS_TYPE_BOOLEAN: u8 = 6;
pub const ROS_TYPE_OCTET: u8 = 7;
pub const ROS_TYPE_UINT8: u8 = 8;
pub const ROS_TYPE_INT8: u8 = 9;
pub const ROS_TYPE_UINT16: u8 = 10;
pub const ROS_TYPE_INT16: u8 = 11;
pub const ROS_TYPE_UINT32: u8 = 12;
pub const ROS_TYPE_INT32: u8 = 13;
pub const ROS_TYPE_UINT64: u8 = 14;
pub const ROS_TYPE_INT64: u8 = 15;
pub const ROS_TYPE_STRING: u8 = 16;
pub const ROS_TYPE_WSTRING: u8 = 17;
pub const ROS_TYPE_MESSAGE: u8 = 18;

/// `rosidl_typesupport_introspection_c__MessageMember`.
#[repr(C)]
pub struct MessageMember {
    pub name_: *const c_char,
    pub type_id_: u8,
    pub string_upper_bound_: usize,
    pub members_: *const rosidl_message_type_support_t,
    pub is_key_: bool,
    pub is_array_: bool,
    pub array_size_: usize,
    pub is_upper_bound_: bool,
    pub offset_: u32,
    pub default_value_: *const c_void,
    pub size_function: Option<unsafe extern "C" fn(*const c_void) -> usize>,
    pub get_const_function: Option<unsafe extern "C" fn(*const c_void, usize) -> *const c_void>,
    pub get_function: Option<unsafe extern "C" fn(*mut c_void, usize) -> *mut c_void>,
    pub fetch_function: Option<unsafe extern "C" fn(*const c_void, usize, *mut c_void)>,
    pub assign_function: Option<unsafe extern "C" fn(*mut c_void, usize, *const c_void)>,
    /// Resizes a sequence. The C function returns whether there was memory; Gantry ignores the result and reads the
    /// size of the sequence instead. The C++ function returns nothing, and throws if there is no memory.
    pub resize_function: Option<unsafe extern "C-unwind" fn(*mut c_void, usize)>,
}

/// `rosidl_typesupport_introspection_c__MessageMembers`.
#[repr(C)]
pub struct MessageMembers {
    pub message_namespace_: *const c_char,
    pub message_name_: *const c_char,
    pub member_count_: u32,
    pub size_of_: usize,
    pub has_any_key_member_: bool,
    pub members_: *const MessageMember,
    pub init_function: Option<unsafe extern "C" fn(*mut c_void, c_uint)>,
    pub fini_function: Option<unsafe extern "C" fn(*mut c_void)>,
}

/// `rosidl_typesupport_introspection_c__ServiceMembers`.
#[repr(C)]
pub struct ServiceMembers {
    pub service_namespace_: *const c_char,
    pub service_name_: *const c_char,
    pub request_members_: *const MessageMembers,
    pub response_members_: *const MessageMembers,
    pub event_members_: *const MessageMembers,
}
