//! stub
use crate::{bindings::*, failure::*};
use std::ffi::c_void;
pub struct MessageType;
impl MessageType {
    pub unsafe fn new(_: *const rosidl_message_type_support_t) -> Result<MessageType> {
        todo!()
    }
    pub fn description(&self) -> &gantry::TypeDescription {
        todo!()
    }
    pub fn plain_bytes(&self) -> Option<usize> {
        todo!()
    }
    pub unsafe fn size_bytes(&self, _: *const c_void) -> Result<usize> {
        todo!()
    }
    pub unsafe fn write(&self, _: *const c_void, _: &mut [u8]) -> Result<()> {
        todo!()
    }
    pub unsafe fn read(&self, _: &[u8], _: *mut c_void) -> Result<()> {
        todo!()
    }
    pub fn check_plain(&self, _: &[u8]) -> Result<()> {
        todo!()
    }
}
