//! Hand-made type supports of C structs, for tests without ROS 2.

use crate::bindings::*;
use std::ffi::{CStr, c_char, c_uint, c_void};

pub type Support = &'static rosidl_message_type_support_t;

/// Makes the introspection entry of a field.
pub fn field(name: &'static CStr, type_id: u8, offset: usize) -> MessageMember {
    MessageMember {
        name_: name.as_ptr(),
        type_id_: type_id,
        string_upper_bound_: 0,
        members_: std::ptr::null(),
        is_key_: false,
        is_array_: false,
        array_size_: 0,
        is_upper_bound_: false,
        offset_: offset.try_into().unwrap(),
        default_value_: std::ptr::null(),
        size_function: None,
        get_const_function: None,
        get_function: None,
        fetch_function: None,
        assign_function: None,
        resize_function: None,
    }
}

pub fn nested(name: &'static CStr, support: Support, offset: usize) -> MessageMember {
    MessageMember { members_: support, ..field(name, ROS_TYPE_MESSAGE, offset) }
}

impl MessageMember {
    pub(super) fn array(self, length: usize) -> MessageMember {
        MessageMember { is_array_: true, array_size_: length, ..self }
    }

    /// Makes the field a sequence. Each element has `ELEMENT` bytes, which may all be 0.
    pub(super) fn sequence<const ELEMENT: usize>(self) -> MessageMember {
        MessageMember { is_array_: true, resize_function: Some(resize::<ELEMENT>), ..self }
    }

    pub(super) fn bounded<const ELEMENT: usize>(self, bound: usize) -> MessageMember {
        MessageMember { array_size_: bound, is_upper_bound_: true, ..self.sequence::<ELEMENT>() }
    }

    pub(super) fn text_bound(self, bound: usize) -> MessageMember {
        MessageMember { string_upper_bound_: bound, ..self }
    }
}

/// Replaces all elements by new ones, as rosidl's C function does. Strings in the old elements are leaked.
unsafe extern "C-unwind" fn resize<const ELEMENT: usize>(at: *mut c_void, length: usize) {
    let sequence = unsafe { &mut *at.cast::<rosidl_runtime_c__Sequence>() };
    unsafe { libc::free(sequence.data) };
    let data = unsafe { libc::calloc(length.max(1), ELEMENT) };
    *sequence = rosidl_runtime_c__Sequence { data, size: length, capacity: length.max(1) };
}

/// Makes the type support of the struct `test_msgs/msg/<name>`.
pub fn support(name: &'static CStr, size_bytes: usize, fields: Vec<MessageMember>) -> Support {
    let members: &'static MessageMembers = Box::leak(Box::new(MessageMembers {
        message_namespace_: c"test_msgs__msg".as_ptr(),
        message_name_: name.as_ptr(),
        member_count_: fields.len().try_into().unwrap(),
        size_of_: size_bytes,
        has_any_key_member_: false,
        members_: fields.leak().as_ptr(),
        init_function: None,
        fini_function: None,
    }));
    Box::leak(Box::new(rosidl_message_type_support_t {
        typesupport_identifier: c"rosidl_typesupport_introspection_c".as_ptr(),
        data: (&raw const *members).cast(),
        func: Some(find),
        get_type_hash_func: None,
        get_type_description_func: std::ptr::null(),
        get_type_description_sources_func: std::ptr::null(),
    }))
}

/// Adds functions that initialise and finalise a message to a type support.
pub fn with_life(
    support: Support,
    init: unsafe extern "C" fn(*mut c_void, c_uint),
    fini: unsafe extern "C" fn(*mut c_void),
) -> Support {
    let members = unsafe { support.data.cast::<MessageMembers>().read() };
    let members = MessageMembers { init_function: Some(init), fini_function: Some(fini), ..members };
    let data: *const MessageMembers = Box::leak(Box::new(members));
    Box::leak(Box::new(rosidl_message_type_support_t { data: data.cast(), ..*support }))
}

unsafe extern "C" fn find(
    support: *const rosidl_message_type_support_t,
    identifier: *const c_char,
) -> *const rosidl_message_type_support_t {
    let own = unsafe { CStr::from_ptr((*support).typesupport_identifier) };
    if own == unsafe { CStr::from_ptr(identifier) } { support } else { std::ptr::null() }
}

/// Makes a string with room for `capacity - 1` characters. Its memory is leaked.
pub fn text(value: &str, capacity: usize) -> rosidl_runtime_c__String {
    let mut bytes = value.as_bytes().to_owned();
    bytes.resize(capacity.max(value.len() + 1), 0);
    let (size, capacity) = (value.len(), bytes.len());
    rosidl_runtime_c__String { data: bytes.leak().as_mut_ptr().cast(), size, capacity }
}

/// Makes a wide string with room for `capacity - 1` units. Its memory is leaked.
pub fn wide_text(value: &str, capacity: usize) -> rosidl_runtime_c__U16String {
    let mut units: Vec<u16> = value.encode_utf16().collect();
    let size = units.len();
    units.resize(capacity.max(size + 1), 0);
    let capacity = units.len();
    rosidl_runtime_c__U16String { data: units.leak().as_mut_ptr(), size, capacity }
}

/// Makes a sequence with these elements. Its memory comes from `malloc`, and is leaked.
pub fn sequence<T>(elements: Vec<T>) -> rosidl_runtime_c__Sequence {
    let size = elements.len();
    let data = unsafe { libc::malloc((size * size_of::<T>()).max(1)) }.cast::<T>();
    unsafe { elements.as_ptr().copy_to_nonoverlapping(data, size) };
    std::mem::forget(elements);
    rosidl_runtime_c__Sequence { data: data.cast(), size, capacity: size.max(1) }
}
