//! The message and service types of the tests, with type supports like the ones of ROS 2's generated code.

use rmw_abi::bindings::*;
use std::{
    ffi::{CStr, c_char, c_void},
    mem::offset_of,
    ptr::null,
    sync::Mutex,
};

/// A message of a plain type: the bytes of the C struct are its CDR.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Point {
    pub x: f64,
    pub number: u64,
}

/// A sequence of C.
#[repr(C)]
pub struct Elements<T> {
    pub data: *mut T,
    pub size: usize,
    pub capacity: usize,
}

/// A message of any length. Its only field is a sequence.
pub type Bytes = Elements<u8>;

/// A message with two sequences. Their memory comes from `malloc`, or they point to shared memory.
#[repr(C)]
pub struct Blocks {
    pub number: u64,
    pub sum: u64,
    pub bytes: Elements<u8>,
    pub ranges: Elements<f64>,
}

/// Returns the type support of [`Point`], which stays until the process ends.
pub fn point_type() -> *const rosidl_message_type_support_t {
    let members = [member(c"x", ROS_TYPE_DOUBLE, 0), member(c"number", ROS_TYPE_UINT64, 8)];
    message_type(c"Point", size_of::<Point>(), members)
}

/// Returns the type support of [`Bytes`], which stays until the process ends.
pub fn bytes_type() -> *const rosidl_message_type_support_t {
    unsafe extern "C-unwind" fn resize(_: *mut c_void, _: usize) {
        unreachable!("no test takes bytes");
    }
    let data = MessageMember { is_array_: true, resize_function: Some(resize), ..member(c"data", ROS_TYPE_UINT8, 0) };
    message_type(c"Bytes", size_of::<Bytes>(), [data])
}

/// Returns the type support of [`Blocks`], which stays until the process ends.
pub fn blocks_type() -> *const rosidl_message_type_support_t {
    unsafe extern "C-unwind" fn resize<T>(sequence: *mut c_void, length: usize) {
        // SAFETY: the sequence has this type, and its memory comes from `malloc`.
        let sequence = unsafe { &mut *sequence.cast::<Elements<T>>() };
        // SAFETY: as above. The caller writes all elements next.
        let data = unsafe { libc::realloc(sequence.data.cast(), length.max(1) * size_of::<T>()) };
        assert!(!data.is_null());
        *sequence = Elements { data: data.cast(), size: length, capacity: length };
    }
    /// Frees the sequences, as rosidl's function does. The process ends if their memory does not come from `malloc`.
    unsafe extern "C" fn fini(at: *mut c_void) {
        // SAFETY: the message is initialised, and is not used again.
        let Blocks { bytes, ranges, .. } = unsafe { at.cast::<Blocks>().read() };
        // SAFETY: the pointer is null, or `malloc` returned it.
        unsafe { libc::free(bytes.data.cast()) };
        // SAFETY: as above.
        unsafe { libc::free(ranges.data.cast()) };
    }
    let sequence = |name, kind, offset, resize| MessageMember {
        is_array_: true,
        resize_function: Some(resize),
        ..member(name, kind, offset as u32)
    };
    let members = [
        member(c"number", ROS_TYPE_UINT64, 0),
        member(c"sum", ROS_TYPE_UINT64, 8),
        sequence(c"bytes", ROS_TYPE_UINT8, offset_of!(Blocks, bytes), resize::<u8>),
        sequence(c"ranges", ROS_TYPE_DOUBLE, offset_of!(Blocks, ranges), resize::<f64>),
    ];
    message_type_with_end(c"Blocks", size_of::<Blocks>(), members, fini)
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

/// Keeps a part of a type support until the process ends. The list makes the part reachable, so that
/// AddressSanitizer does not report a leak.
fn keep<T>(part: T) -> &'static T {
    static KEPT: Mutex<Vec<usize>> = Mutex::new(Vec::new());
    let part = Box::leak(Box::new(part));
    KEPT.lock().unwrap().push(std::ptr::from_ref(part).addr());
    part
}

/// `init` does nothing, because messages whose bytes are all 0 are valid here.
unsafe extern "C" fn init(_: *mut c_void, _: std::ffi::c_uint) {}

fn message_type<const N: usize>(
    name: &'static CStr,
    size_of_: usize,
    members: [MessageMember; N],
) -> *const rosidl_message_type_support_t {
    /// `fini` does nothing, because these messages own no memory.
    unsafe extern "C" fn fini(_: *mut c_void) {}
    message_type_with_end(name, size_of_, members, fini)
}

fn message_type_with_end<const N: usize>(
    name: &'static CStr,
    size_of_: usize,
    members: [MessageMember; N],
    fini: unsafe extern "C" fn(*mut c_void),
) -> *const rosidl_message_type_support_t {
    unsafe extern "C" fn itself(
        handle: *const rosidl_message_type_support_t,
        identifier: *const c_char,
    ) -> *const rosidl_message_type_support_t {
        // SAFETY: the identifier of a type support is a string that ends with 0.
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

/// Returns the type support of a service whose requests and responses are [`Point`]s. It stays until the process ends.
pub fn ask_type() -> *const rosidl_service_type_support_t {
    service_type(c"Ask", point_type())
}

/// Returns the type support of a service whose requests are [`Point`]s and whose responses are [`Bytes`].
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
        // SAFETY: the identifier of a type support is a string that ends with 0.
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
