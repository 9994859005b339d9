//! The types of `rcutils` that `rmw` uses: allocator, string array, byte array.

use std::ffi::{c_char, c_void};

#[repr(C)]
#[derive(Clone, Copy)]
pub struct rcutils_allocator_t {
    pub allocate: Option<unsafe extern "C" fn(size: usize, state: *mut c_void) -> *mut c_void>,
    pub deallocate: Option<unsafe extern "C" fn(pointer: *mut c_void, state: *mut c_void)>,
    pub reallocate: Option<unsafe extern "C" fn(pointer: *mut c_void, size: usize, state: *mut c_void) -> *mut c_void>,
    pub zero_allocate: Option<
        unsafe extern "C" fn(number_of_elements: usize, size_of_element: usize, state: *mut c_void) -> *mut c_void,
    >,
    pub state: *mut c_void,
}

#[repr(C)]
pub struct rcutils_string_array_t {
    pub size: usize,
    pub data: *mut *mut c_char,
    pub allocator: rcutils_allocator_t,
}

#[repr(C)]
pub struct rcutils_uint8_array_t {
    pub buffer: *mut u8,
    pub buffer_length: usize,
    pub buffer_capacity: usize,
    pub allocator: rcutils_allocator_t,
}
