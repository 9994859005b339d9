//! A message struct that its type support initialises and finalises.

use crate::bindings::*;
use std::{alloc, ffi::c_void};

pub struct Memory {
    pub message: *mut c_void,
    layout: alloc::Layout,
    fini: unsafe extern "C" fn(*mut c_void),
}

impl Memory {
    /// `members` points to a valid introspection table.
    pub fn new(members: *const MessageMembers) -> Memory {
        let members = unsafe { &*members };
        let layout = alloc::Layout::from_size_align(members.size_of_, 16).unwrap();
        let message = unsafe { alloc::alloc_zeroed(layout) }.cast();
        unsafe { members.init_function.unwrap()(message, 0) };
        Memory { message, layout, fini: members.fini_function.unwrap() }
    }

    pub fn bytes(&self) -> &[u8] {
        unsafe { std::slice::from_raw_parts(self.message.cast(), self.layout.size()) }
    }
}

impl Drop for Memory {
    fn drop(&mut self) {
        unsafe { (self.fini)(self.message) };
        unsafe { alloc::dealloc(self.message.cast(), self.layout) };
    }
}
